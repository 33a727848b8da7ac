/** Finds the files of one job in the Status of an Assembly: in its uploads, and in the results of several jobs. */
import * as Md5 from "@assembly-effect/api/unstable/Md5"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { DeliveryMismatch } from "./jobError.ts"
import type { Delivered } from "./job.ts"

/** How a file differs that is not among the uploads of an Assembly. */
export const unlisted = { field: "upload", expected: "the file", actual: "no such file" } as const

/** The error of a file that is not among the uploads of an Assembly that has completed. */
export const notListed = ({ assembly_id: assemblyId }: Assembly.Status, filename: string) =>
  new DeliveryMismatch({ assemblyId, filename, ...unlisted })

/** The upload id in a URL. The host is ignored, because the service may move an upload to another host. */
export const uploadIdIn = (url: string | null | undefined): string | undefined =>
  /\/resumable\/files\/([^/?#]+)/.exec(url ?? "")?.[1]

/**
 * The file in the Status that was made from an upload: the file with the same upload id, else a file with the same
 * `filename` and `fieldname` that has no other upload id. If several files have these names, the file with the expected
 * MD5 is chosen, else the first file.
 */
const fileOf = (
  uploads: ReadonlyArray<Assembly.File>,
  { fieldname = "file", filename, md5hash, url }: Delivered & { readonly md5hash?: string | undefined }
): Assembly.File | undefined => {
  const id = uploadIdIn(url === undefined ? undefined : Redacted.value(url))
  const own = uploads.find((file) => id !== undefined && uploadIdIn(file.tus_upload_url) === id)
  if (own !== undefined) return own
  const named = uploads.filter(
    ({ field, name, tus_upload_url }) =>
      name === filename && field === fieldname && (id === undefined || uploadIdIn(tus_upload_url) === undefined)
  )
  return named.find((file) => md5hash !== undefined && Md5.ofFile(file) === md5hash) ?? named[0]
}

/** The file in the Status for each of the files of a job. A file in the Status is found only once. */
export const filesOf = (
  { uploads }: Pick<Assembly.Status, "uploads">,
  files: ReadonlyArray<Delivered & { readonly md5hash?: string | undefined }>
): ReadonlyArray<Assembly.File | undefined> => {
  const left = [...(uploads ?? [])]
  return files.map((file) => {
    const found = fileOf(left, file)
    if (found !== undefined) left.splice(left.indexOf(found), 1)
    return found
  })
}

/** Whether a result is one of the files with these ids, or was made from them. */
const isFrom = (ids: ReadonlySet<unknown>, { id, original_id: origin }: Assembly.File): boolean =>
  [id, origin].flat().some((one) => typeof one === "string" && ids.has(one))

/** The ids of files, and of all results that were made from these files, directly or from one another. */
const reached = (files: ReadonlyArray<Assembly.File>, results: ReadonlyArray<Assembly.File>): ReadonlySet<unknown> => {
  const ids = new Set<unknown>(files.map(({ id }) => id))
  for (let before = -1; before < ids.size;) {
    before = ids.size
    for (const result of results) if (isFrom(ids, result)) ids.add(result.id)
  }
  return ids
}

/**
 * The Status of an Assembly of several jobs, as the job with the uploads `own` sees it: without the uploads of the other
 * jobs, and without the results that were made from these alone.
 */
export const share = (status: Assembly.Status, own: ReadonlyArray<Assembly.File>): Assembly.Status => {
  const results = status.results ?? {}
  const all = Object.values(results).flat()
  const mine = reached(own, all)
  const ofOthers = (status.uploads ?? []).filter((file) => !own.includes(file))
  const others = reached(ofOthers, all)
  const isMine = (file: Assembly.File) => isFrom(mine, file) || !isFrom(others, file)
  const ids = new Set(own.map(({ tus_upload_url: url }) => uploadIdIn(url)))
  return {
    ...status,
    uploads: own,
    results: Record.map(results, (files) => files.filter(isMine)),
    tus_uploads: (status.tus_uploads ?? []).filter(({ upload_url: url }) => ids.has(uploadIdIn(url)))
  }
}

/** The id of the upload of a file. A file of a form has no upload, so its own id counts. */
const idOf = ({ id, tus_upload_url: url }: Assembly.File): string => uploadIdIn(url) ?? id ?? ""

/** The ids of the uploads in a Status. */
export const idsOf = ({ uploads }: Pick<Assembly.Status, "uploads">): ReadonlyArray<string> => (uploads ?? []).map(idOf)

/**
 * The Status of an Assembly of several jobs, without the uploads and results of the jobs that do not have `ids`.
 *
 * @since 0.1.0
 * @category packing
 */
export const shareOf = (status: Assembly.Status, ids: ReadonlyArray<string>): Assembly.Status =>
  share(
    status,
    (status.uploads ?? []).filter((file) => ids.includes(idOf(file)))
  )

/** The uploads of a job in a Status, if each of its files is the only one with its name. */
export const named = (
  { uploads }: Pick<Assembly.Status, "uploads">,
  files: ReadonlyArray<{ readonly fieldname?: string | undefined; readonly filename: string }>
): ReadonlyArray<Assembly.File> | undefined => {
  const found = files.map(({ fieldname = "file", filename }) =>
    (uploads ?? []).filter(({ field, name }) => name === filename && field === fieldname)
  )
  return found.every((all) => all.length === 1) ? found.flat() : undefined
}
