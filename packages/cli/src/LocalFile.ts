/**
 * Local files as sources of uploads.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Result from "effect/Result"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import * as ExitCode from "./ExitCode.ts"

/**
 * A file that can be uploaded. `name` is the last part of its path. `realPath` is its absolute path without links.
 *
 * @since 0.1.0
 * @category models
 */
export interface LocalFile {
  readonly path: string
  readonly name: string
  readonly realPath: string
  readonly source: UploadSource.Replayable
}

/**
 * The path names no readable file. Nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class CannotRead extends Schema.TaggedError<CannotRead>()("CannotRead", {
  path: Schema.String,
  problem: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    // Escaped here, because a line break in a path is a part of the name, and not the end of a line.
    return Printable.escape(`${this.path}: ${this.problem}`)
  }
}

const problems: Readonly<Record<string, string>> = {
  NotFound: "no such file",
  PermissionDenied: "permission denied"
}

/** Node replaces bytes of a path that are not valid UTF-8 with this character, and then cannot open the file. */
const replacement = "\ufffd"

/**
 * Describes why a path cannot be read.
 *
 * @since 0.1.0
 * @category errors
 */
export const toCannotRead =
  (path: string) =>
  (error: PlatformError.PlatformError): CannotRead => {
    const { _tag } = error.reason
    if (_tag === "NotFound" && path.includes(replacement)) {
      return new CannotRead({ path, problem: "the name is not valid UTF-8; rename the file" })
    }
    return new CannotRead({ path, problem: problems[_tag] ?? error.message })
  }

/**
 * Reads what a path names. Follows links, and says where a broken link leads.
 *
 * @since 0.1.0
 * @category constructors
 */
export const stat = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.result(fs.stat(path))
  if (Result.isSuccess(info)) return info.success
  const { reason } = info.failure
  const target = reason._tag === "NotFound" ? yield* Effect.option(fs.readLink(path)) : Option.none()
  if (Option.isNone(target)) return yield* toCannotRead(path)(info.failure)
  return yield* new CannotRead({ path, problem: `is a link to ${target.value}, which does not exist` })
})

/**
 * Checks that a file can be read, before anything is created at the service.
 *
 * @example LocalFile.open("video.mp4")
 *
 * @since 0.1.0
 * @category constructors
 */
export const open = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* stat(path)
  if (info.type !== "File") {
    return yield* new CannotRead({ path, problem: info.type === "Directory" ? "is a directory" : "is not a file" })
  }
  yield* Effect.mapError(fs.access(path, { readable: true }), toCannotRead(path))
  const name = (yield* Path.Path).basename(path)
  if (/\p{Cc}/u.test(name)) {
    return yield* new CannotRead({
      path,
      problem: "the service refuses a name with control characters; rename the file"
    })
  }
  // The identity of the source contains its path, and the same file may be named in many ways.
  const realPath = yield* Effect.mapError(fs.realPath(path), toCannotRead(path))
  const source = yield* Effect.mapError(
    UploadSource.fromPath(realPath),
    ({ problem }) => new CannotRead({ path, problem })
  )
  return { path, name, realPath, source } satisfies LocalFile
})
