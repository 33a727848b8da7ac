/** The errors of SQLite. */
/**
 * An error of SQLite. The `reason` of a `SqlError` has this error as its `cause`.
 *
 * - `errno`: the result code of SQLite (https://www.sqlite.org/rescode.html). `effect/sql` reads this property.
 * - `path`: the file of the database.
 *
 * @category errors
 * @since 0.1.0
 */
export class SqliteError extends Error {
  readonly errno: number
  readonly path: string
  constructor(message: string, options: { readonly errno: number; readonly path: string; readonly cause: unknown }) {
    super(message, { cause: options.cause })
    this.errno = options.errno
    this.path = options.path
  }
}
