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
 * A path or the standard input cannot be uploaded, for example because it is not a readable file, or because the
 * service would refuse the name. Nothing was sent.
 *
 * @since 0.1.0
 * @category errors
 */
export class CannotRead extends Schema.TaggedError<CannotRead>()("CannotRead", {
  path: Schema.String,
  description: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = ExitCode.codes.usage
  override get message() {
    // The path is escaped, because a line break in a path must not end the line of the message.
    return Printable.escape(`${this.path}: ${this.description}`)
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
      return new CannotRead({ path, description: "the name is not valid UTF-8; rename the file" })
    }
    return new CannotRead({ path, description: problems[_tag] ?? error.message })
  }

/**
 * Reads the type, the size and the times of the file or folder at a path. Follows links. For a broken link, the error
 * names the target of the link.
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
  return yield* new CannotRead({ path, description: `is a link to ${target.value}, which does not exist` })
})

/**
 * Checks that a file can be read and that its name has no control characters, and makes a source of the file. Sends
 * nothing.
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
    return yield* new CannotRead({ path, description: info.type === "Directory" ? "is a directory" : "is not a file" })
  }
  yield* Effect.mapError(fs.access(path, { readable: true }), toCannotRead(path))
  const name = (yield* Path.Path).basename(path)
  if (/\p{Cc}/u.test(name)) {
    return yield* new CannotRead({
      path,
      description: "the service refuses a name with control characters; rename the file"
    })
  }
  // The identity of a source contains the path. Several paths may lead to the same file, so the identity gets the path
  // without links.
  const realPath = yield* Effect.mapError(fs.realPath(path), toCannotRead(path))
  const source = yield* Effect.mapError(
    UploadSource.fromPath(realPath),
    ({ description }) => new CannotRead({ path, description })
  )
  return { path, name, realPath, source } satisfies LocalFile
})
