/**
 * The result files of an Assembly: which files the Steps have made, and how to download them.
 *
 * **When to use**
 *
 * Use this module after an Assembly has completed, with the Status of `Assemblies.awaitCompletion`,
 * `AssemblyUpload.run` or a notification.
 *
 * **Details**
 *
 * A download sends no credential, because a result may be stored on any server. Each request of a download follows at
 * most 5 redirects. The URL of a result, and the target of each redirect, must be https, or http on loopback. If the
 * context has an `AssemblyClient`, http on loopback is permitted only if one of the client's `origins` uses http.
 *
 * **Gotchas**
 *
 * The service, or the author of a Template, decides where results are stored. If a program runs in a private network,
 * the URL of a result could make the program send requests to that network. To prevent this, use an HTTP client or a
 * proxy that refuses private addresses.
 */
import * as Unique from "@assembly-effect/auth/unstable/Unique"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Path from "effect/Path"
import * as Pull from "effect/Pull"
import * as Schema from "effect/Schema"
import * as ResultError from "./ResultError.ts"
import * as Access from "./unstable/Access.ts"
import * as Download from "./unstable/Download.ts"
import { hasUrl } from "./unstable/Reading.ts"

export { download, type DownloadOptions } from "./unstable/Download.ts"

/**
 * The files of each Step in a Status, in the order of the Status. The map contains exactly the Steps in the `results`
 * of the Status. A file that no Step has exported, such as a file of `:original`, may have no URL; see
 * {@link downloadable}.
 *
 * @example
 * Results.of(assembly).get("resized")?.map(({ name, size }) => `${name}: ${size} bytes`)
 *
 * @since 0.1.0
 * @category results
 */
export const of = ({ results }: Pick<Assembly.Status, "results">): ReadonlyMap<string, ReadonlyArray<Assembly.File>> =>
  new Map(Object.entries(results ?? {}))

/**
 * The files of {@link of} that have a URL, so that they can be downloaded. The map has no entry for a Step without such
 * a file.
 *
 * @example
 * Effect.forEach([...Results.downloadable(assembly).values()].flat(), (file, index) =>
 *   Results.save(file, `results/${index}`)
 * )
 *
 * @since 0.1.0
 * @category results
 */
export const downloadable = (
  status: Pick<Assembly.Status, "results">
): ReadonlyMap<string, ReadonlyArray<Assembly.File>> => {
  const files = Array.from(of(status), ([step, all]) => [step, all.filter(hasUrl)] as const)
  return new Map(files.filter(([, some]) => some.length > 0))
}

/**
 * - `mode`: the permissions of the file, such as `0o600`. By default, a file that exists keeps its permissions, and a
 *   new file has the default permissions of the process (its umask).
 *
 * @since 0.1.0
 * @category options
 */
export interface SaveOptions extends Download.DownloadOptions {
  readonly mode?: number | undefined
}

/**
 * A saved file: its path, its size in bytes, and its MD5 in hexadecimal digits.
 *
 * @since 0.1.0
 * @category models
 */
export interface Saved {
  readonly path: string
  readonly size: number
  readonly md5hash: string
}

const operation = "Results.save"

const notAFile = (path: string, description: string) =>
  new ResultError.SaveFailed({ path, reason: "NotAFile", description })

/** The mode of the file at `path`, if there is a file. Anything else at `path` is refused. */
const existingMode = (fs: FileSystem.FileSystem, path: string) =>
  fs.stat(path).pipe(
    Effect.flatMap(({ mode, type }) =>
      type === "File" ? Effect.succeed(mode & 0o777) : Effect.fail(notAFile(path, `it is not a file (${type})`))
    ),
    Effect.catchTag("PlatformError", (error) =>
      Access.refusal(error).reason === "NotFound" ? Effect.undefined : Effect.fail(error)
    )
  )

const modeIssues = Rules.checker(Schema.Struct({ mode: Schema.optional(Rules.whole(0, 0o777)) }))

/**
 * Syncs a folder to the disk, so that the new name of a file survives a power failure. On a system that cannot sync a
 * folder, this function does nothing.
 */
const syncFolder = (fs: FileSystem.FileSystem, folder: string): Effect.Effect<void> =>
  Effect.ignore(Effect.scoped(Effect.flatMap(fs.open(folder, { flag: "r" }), (handle) => handle.sync)))

/** Writes all bytes of a download to a new file, and syncs it to the disk. */
const write = Effect.fnUntraced(function* (
  { next, read }: Download.Download,
  open: ReturnType<FileSystem.FileSystem["open"]>,
  path: string
) {
  const handle = yield* open
  const step = Effect.flatMap(
    next,
    Effect.forEach((piece) => handle.writeAll(piece), { discard: true })
  )
  yield* Pull.catchDone(Effect.forever(step, { disableYield: true }), () => Effect.void)
  yield* handle.sync
  const { md5hash = "", size } = read()
  return { path, size, md5hash } satisfies Saved
})

/**
 * Downloads a file as `Results.download` does, and writes it to `path`.
 *
 * **Details**
 *
 * The file is written to a temporary file in the same folder, synced, and renamed. Therefore, there is never an
 * incomplete file at `path`. After a failure or an interruption, the temporary file is removed, and a file that existed
 * at `path` is unchanged.
 *
 * **Gotchas**
 *
 * - The folder must exist.
 * - A symbolic link to a file, or to nothing, is replaced, and the file behind it is unchanged. A folder or a device at
 *   `path`, a link to one, and a `path` without the name of a file, are refused with `SaveFailed`.
 * - If the process is killed, its temporary file (`.<uuid>.part`) remains.
 *
 * @example
 * Results.save(file, "resized.jpg").pipe(Effect.catchTag("SaveFailed", ({ reason }) => Console.error(reason)))
 *
 * @since 0.1.0
 * @category results
 */
export const save: (
  file: Assembly.File,
  path: string,
  options?: SaveOptions
) => Effect.Effect<Saved, ResultError.SaveError, HttpClient.HttpClient | FileSystem.FileSystem | Path.Path> =
  Effect.fnUntraced(
    function* (file, path, options = {}) {
      const fs = yield* FileSystem.FileSystem
      const { dirname, join, sep } = yield* Path.Path
      const issues = modeIssues(options)
      if (issues.length > 0) return yield* new InvalidRequest({ operation, issues })
      if (path === "" || path.endsWith("/") || path.endsWith(sep)) {
        return yield* notAFile(path, "the path has no name of a file")
      }
      const existing = yield* existingMode(fs, path)
      const mode = options.mode ?? existing
      const folder = dirname(path)
      const temporary = join(folder, `.${yield* Unique.text}.part`)
      const saved = yield* Download.start(operation, file, { ...options, sums: true }).pipe(
        Effect.flatMap((download) => write(download, fs.open(temporary, { flag: "wx", mode: mode ?? 0o666 }), path)),
        Effect.scoped,
        // `open` has removed the permissions that the umask forbids, so the permissions are set again.
        Effect.tap(() => (mode === undefined ? Effect.void : fs.chmod(temporary, mode))),
        Effect.tap(() => fs.rename(temporary, path)),
        Effect.onError(() => Effect.ignore(fs.remove(temporary, { force: true })))
      )
      yield* syncFolder(fs, folder)
      return saved
    },
    (saved, _, path) =>
      Effect.catchTag(saved, "PlatformError", (error) =>
        Effect.fail(new ResultError.SaveFailed({ path, ...Access.refusal(error) }))
      ),
    Effect.withSpan(operation, { kind: "client" })
  )
