/**
 * Registers readers of small files. A reader opens, reads, checks and closes a file with fewer calls of the operating
 * system than a `FileSystem` needs.
 */
import type * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"

/**
 * The first bytes of a file, and the state of the file after these bytes were read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Read {
  readonly bytes: Uint8Array
  readonly info: Pick<FileSystem.File.Info, "dev" | "ino" | "mtime" | "size">
}

/**
 * Reads at most `most` bytes from the start of a file. The result is undefined if the file cannot be read; the caller
 * then reads it with the `FileSystem`, which describes the error.
 *
 * @since 0.1.0
 * @category models
 */
export type Reader = (path: string, most: number) => Effect.Effect<Read | undefined>

const readers = new WeakMap<FileSystem.FileSystem, Reader>()

/**
 * Registers the reader of a `FileSystem`. Every other `FileSystem`, such as a wrapped one, is read through its own
 * functions.
 *
 * @since 0.1.0
 * @category registration
 */
export const register = (fileSystem: FileSystem.FileSystem, reader: Reader): void => {
  readers.set(fileSystem, reader)
}

/**
 * The reader of a `FileSystem`, if it has one.
 *
 * @since 0.1.0
 * @category guards
 */
export const readerOf = (fileSystem: FileSystem.FileSystem): Reader | undefined => readers.get(fileSystem)
