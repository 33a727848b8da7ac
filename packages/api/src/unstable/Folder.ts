/**
 * Creates a folder and the folders above it, one after the other.
 *
 * On Node, `FileSystem.makeDirectory` with `recursive` never ends if a file system such as `/proc` reports that a
 * folder does not exist although the folder above it exists. The call blocks a thread, and the blocked thread keeps the
 * process from ending.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"

/**
 * Creates the folder, and the folders above it that are missing. A folder that already exists is not changed. Each new
 * folder gets the permissions `mode`, without those that the umask of the process forbids.
 *
 * @since 0.1.0
 * @category utilities
 */
export const make = (
  path: string,
  options: { readonly mode?: number | undefined } = {}
): Effect.Effect<void, PlatformError.PlatformError, FileSystem.FileSystem | Path.Path> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const { dirname } = yield* Path.Path

    const isFolder = (at: string) =>
      fs.stat(at).pipe(
        Effect.map(({ type }) => type === "Directory"),
        Effect.orElseSucceed(() => false)
      )
    const makeOne = (at: string) =>
      fs
        .makeDirectory(at, options)
        .pipe(
          Effect.catch((error) => Effect.flatMap(isFolder(at), (found) => (found ? Effect.void : Effect.fail(error))))
        )
    const makeAll = (at: string): Effect.Effect<void, PlatformError.PlatformError> =>
      makeOne(at).pipe(
        Effect.catchIf(
          ({ reason }) => reason._tag === "NotFound" && dirname(at) !== at,
          () => Effect.andThen(makeAll(dirname(at)), makeOne(at))
        )
      )
    yield* makeAll(path)
  })
