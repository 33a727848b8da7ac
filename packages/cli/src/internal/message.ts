/**
 * Whether the standard error is being written with a message that the user must be able to read, and not with progress.
 * This module imports nothing, because it is used before Effect is loaded.
 */

let open = 0

/** Whether a message is being written. Node reports a failed write before the next turn of the event loop. */
export const isOpen = (): boolean => open > 0

/** Marks the write of a message. Call this function before the write. */
export const begin = (): void => {
  open += 1
  setImmediate(() => (open -= 1))
}
