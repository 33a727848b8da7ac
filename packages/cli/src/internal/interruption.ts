/**
 * What Ctrl-C prints before a command has begun. This module imports nothing, because it is used before Effect is
 * loaded.
 */

/**
 * The line for a command that has sent nothing, and does not know yet whether an earlier command has. Undefined if the
 * command prints nothing.
 */
export const atStart = ([command]: ReadonlyArray<string>): string | undefined =>
  command === "upload"
    ? "interrupted before anything was sent; files of an earlier command are kept. Run the same command again"
    : undefined
