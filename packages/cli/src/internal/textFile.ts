/**
 * Reads a text of at most 16 MiB that the user names by its path: JSON, a certificate, or the key of a certificate.
 */
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import type * as PlatformError from "effect/PlatformError"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as SystemProblem from "./systemProblem.ts"

const maxBytes = ByteSize.mebibytes(16)

const tooLarge = "has more than 16 MiB"

/**
 * Whether the path leads to a pipe without a name, as in `--steps <(jq .steps job.json)`. Opening such a pipe never
 * waits. Opening a named pipe waits until another program opens it for writing.
 */
const isPipeOfShell = Effect.fnUntraced(function* (path: string) {
  if (!/^\/(?:dev|proc\/self)\/fd\/[0-9]+$/.test(path)) return false
  const fs = yield* FileSystem.FileSystem
  // On Linux, the path is a link. The link to a pipe without a name is a text such as pipe:[4026].
  const target = yield* Effect.option(fs.readLink(path))
  return !Option.exists(target, (to) => to.startsWith("/"))
})

const standardInput = Stdio.Stdio.use(({ stdin }) =>
  stdin.pipe(
    Stream.mapError(SystemProblem.of),
    Stream.limitBytes(maxBytes, () => Stream.fail(tooLarge)),
    Stream.decodeText,
    Stream.mkString
  )
)

const problemOf = <A, R>(effect: Effect.Effect<A, PlatformError.PlatformError, R>): Effect.Effect<A, string, R> =>
  Effect.mapError(effect, SystemProblem.of)

const file = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const { size, type } = yield* problemOf(fs.stat(path))
  if (type === "Directory") return yield* Effect.fail("is a folder")
  // A device may never end.
  if (type !== "File" && !(type === "FIFO" && (yield* isPipeOfShell(path)))) {
    return yield* Effect.fail("is not a file; redirect it to the standard input, and give - as the path")
  }
  if (size > maxBytes) return yield* Effect.fail(tooLarge)
  return yield* problemOf(fs.readFileString(path))
})

/** Reads a file, or the standard input if the path is `-` or `/dev/stdin`. Fails with the problem in words. */
export const read = (path: string): Effect.Effect<string, string, FileSystem.FileSystem | Stdio.Stdio> => {
  if (path === "") return Effect.fail("the path of the file is empty")
  return path === "-" || path === "/dev/stdin" ? standardInput : file(path)
}
