/**
 * Tells apart two kinds of writes to the standard error: messages, which the user must be able to read, and progress.
 * This module imports nothing, because it is used before Effect is loaded.
 */

let open = 0

/**
 * Whether a message was written in this turn of the event loop. Node reports the failure of this write before the next
 * turn.
 */
export const isOpen = (): boolean => open > 0

/** Marks the write of a message. Call this function before the write. */
export const begin = (): void => {
  open += 1
  setImmediate(() => (open -= 1))
}
