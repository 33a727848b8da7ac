import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as Mime from "effect/http/Mime"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Stream from "effect/Stream"
import type * as AssemblyStore from "../assembly/assemblyStore.ts"
import * as FileStore from "./fileStore.ts"
import * as ImageSize from "./imageSize.ts"
import * as Origin from "../http/origin.ts"
import type { StepFile } from "../robots/robot.ts"
import * as UploadStore from "./uploadStore.ts"

const splitName = (name: string): { readonly basename: string; readonly ext: string } => {
  const dot = name.lastIndexOf(".")
  return dot <= 0
    ? { basename: name, ext: "" }
    : { basename: name.slice(0, dot), ext: name.slice(dot + 1).toLowerCase() }
}

/** Replaces null with an empty text, because the service sends no null in the metadata of a result. */
const userMeta = ({ user_meta }: UploadStore.Row): Readonly<Record<string, string>> =>
  Record.map(user_meta, (value) => value ?? "")

const describe = (
  upload: UploadStore.Row,
  digest: FileStore.Digest,
  { resultUrl, uploadUrl }: Origin.Origin["Service"]
): Assembly.File => {
  const { basename, ext } = splitName(upload.filename)
  const mime = ext === "" ? null : Option.getOrNull(Mime.getType(upload.filename))
  const isTus = upload.kind !== "form"
  const url = resultUrl(upload.id, upload.filename)
  return {
    // The file has the id of the upload, which is unique and is a valid file id.
    id: upload.id,
    original_id: upload.id,
    original_name: upload.filename,
    original_basename: basename,
    original_path: "/",
    original_md5hash: digest.md5hash,
    from_batch_import: false,
    name: upload.filename,
    basename,
    ext,
    mime,
    type: mime?.split("/", 1)[0] ?? null,
    field: upload.fieldname,
    ...digest,
    url,
    ssl_url: url,
    meta: {},
    user_meta: userMeta(upload),
    is_tus_file: isTus,
    tus_upload_url: isTus ? uploadUrl(upload.id) : null
  }
}

/** Converts finished uploads to the files that Steps process. */
export const make = Effect.gen(function* () {
  const uploads = yield* UploadStore.make
  const files = yield* FileStore.FileStore
  const origin = yield* Origin.Origin

  const digestOf = ({ id, length, md5hash, sha256 }: UploadStore.Row) =>
    md5hash === null || sha256 === null || length === null
      ? files.digest(id)
      : Effect.succeed({ size: Number(length), md5hash, sha256 })

  const bytesOf = (id: string, range: FileStore.ByteRange) =>
    Effect.map(Stream.runCollect(files.read(id, range)), (chunks) => Buffer.concat(chunks))

  const of = Effect.fnUntraced(function* (upload: UploadStore.Row) {
    const { id } = upload
    const digest = yield* digestOf(upload)
    const file = describe(upload, digest, origin)
    const size = file.type === "image" ? yield* ImageSize.read((range) => bytesOf(id, range)) : undefined
    return { blob: id, digest, file: size === undefined ? file : { ...file, meta: { ...size } } } satisfies StepFile
  })

  return {
    of,
    /**
     * The finished uploads of an Assembly, in the order of their creation. The files of a replay are the finished
     * uploads of the original Assembly.
     */
    ofAssembly: ({ id, uploads_from }: AssemblyStore.Row) =>
      Effect.flatMap(uploads.ofAssembly(uploads_from ?? id), (rows) =>
        Effect.forEach(
          rows.filter(({ finished_at }) => finished_at !== null),
          of
        )
      )
  }
})
