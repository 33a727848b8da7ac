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
import { hasUrl } from "./internal/results/request.ts"

export { download, type DownloadOptions } from "./internal/results/download.ts"
export { save, type Saved, type SaveOptions } from "./internal/results/save.ts"

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
