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
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Path from "effect/Path"
import type * as Stream from "effect/Stream"
import * as Download from "./internal/results/download.ts"
import * as ResultUrl from "./internal/results/resultUrl.ts"
import * as Save from "./internal/results/save.ts"
import type { DownloadError, SaveError } from "./ResultError.ts"

export type { DownloadOptions } from "./internal/results/download.ts"
export type { Saved, SaveOptions } from "./internal/results/save.ts"

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
  const files = Array.from(of(status), ([step, all]) => [step, all.filter(ResultUrl.hasUrl)] as const)
  return new Map(files.filter(([, some]) => some.length > 0))
}

/**
 * Downloads a file piece by piece. At most a few pieces are in memory. `file` is a file of `Results.of`, or any other
 * file with `ssl_url` or `url`.
 *
 * **Details**
 *
 * - After a failed request or a lost connection, the `RetryPolicy` of the call, or `RetryPolicy.standard` by default,
 *   decides whether and when the download continues with the next byte. New bytes reset the count of failures.
 * - Bytes of two responses are combined only if they belong to the same file. The proof is a strong ETag, a strong
 *   Last-Modified, or, at the end of the download, the MD5 in the Status. Without such a proof, or if the server
 *   ignores ranges, the file is read again from its start, without emitting the same bytes again. If no strong ETag or
 *   Last-Modified proves that the file is the same, these bytes are compared with the bytes that were emitted before.
 * - The validators (ETag and Last-Modified) of a redirected response are not used, because the next redirect may lead
 *   to another file.
 * - The size of the file must be known: from the Status or from the response. The stream ends after exactly this number
 *   of bytes. If the Status has an MD5 (`md5hash`) that the bytes do not match, the stream fails with `ResultMismatch`
 *   at its end. If the Status has a `size` or `md5hash` that no file can have, the download fails with `InvalidRequest`
 *   before anything is sent.
 *
 * **Gotchas**
 *
 * The stream may emit bytes and then fail. Use {@link save} if nobody may see an incomplete file.
 *
 * If a web page downloads a file, the server must permit the headers `range` and `if-range`, and expose `content-range`
 * and `etag` (CORS). Without these permissions, a download in a page cannot continue after a failure: it fails, or
 * reads the file again from its start. Browsers do not show where a redirect leads, so a download in a page does not
 * follow redirects.
 *
 * @example
 * Results.download(file).pipe(Stream.runForEach((piece) => Effect.log(piece.length)))
 *
 * @example
 * Results.download(file, { maxBytes: 1024 * 1024 }).pipe(RetryPolicy.none, Stream.decodeText, Stream.mkString)
 *
 * @since 0.1.0
 * @category results
 */
export const download = (
  file: Assembly.File,
  options: Download.DownloadOptions = {}
): Stream.Stream<Uint8Array, DownloadError, HttpClient.HttpClient> => Download.stream(file, options)

/**
 * Downloads a file as {@link download} does, and writes it to `path`.
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
export const save = (
  file: Assembly.File,
  path: string,
  options: Save.SaveOptions = {}
): Effect.Effect<Save.Saved, SaveError, HttpClient.HttpClient | FileSystem.FileSystem | Path.Path> =>
  Save.save(file, path, options)
