import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Mime from "effect/http/Mime"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as Stream from "effect/Stream"
import * as Origin from "../http/origin.ts"
import * as Expiry from "./expiry.ts"
import * as Refusal from "../http/refusal.ts"
import * as TusRefusal from "./tusRefusal.ts"
import * as Uploads from "./uploads.ts"
import type * as FileStore from "../files/fileStore.ts"

/**
 * The supported algorithms of the checksum extension (tus 1.0.0), and the sizes of their digests in bytes. Node uses
 * the same algorithm names.
 */
const sizes: ReadonlyMap<string, number> = new Map([
  ["sha1", 20],
  ["sha256", 32],
  ["md5", 16]
])

/** The value of `tus-checksum-algorithm`. */
const checksumAlgorithms = [...sizes.keys()].join(",")

/** Reads the optional `upload-checksum` header. */
const readChecksum = (headers: Headers.Headers): Effect.Effect<FileStore.Checksum | undefined, Refusal.Refusal> =>
  Effect.suspend(() => {
    const header = headers["upload-checksum"]
    if (header === undefined) return Effect.succeed(undefined)
    const [algorithm = "", text = "", ...more] = header.split(" ")
    const size = sizes.get(algorithm)
    if (size === undefined) return Effect.fail(TusRefusal.refuse("unknownChecksum"))
    const digest = Buffer.from(text, "base64")
    return more.length === 0 && digest.length === size && digest.toString("base64") === text
      ? Effect.succeed({ algorithm, digest: digest.toString("hex") })
      : Effect.fail(TusRefusal.refuse("invalidChecksum"))
  })

type Request = HttpServerRequest.HttpServerRequest

const empty = (status: number, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.empty({ status, headers: { ...TusRefusal.tusHeaders, ...headers } })

const checkVersion = (headers: Headers.Headers): Effect.Effect<void, Refusal.Refusal> =>
  headers["tus-resumable"] === TusUpload.tusVersion ? Effect.void : Effect.fail(TusRefusal.refuse("unsupportedVersion"))

/** Decodes headers. The first invalid header determines the refusal. */
const decoder = <A>(schema: Schema.ConstraintDecoder<A>) => {
  const decode = SchemaParser.decodeUnknownEffect(schema)
  return (headers: Headers.Headers): Effect.Effect<A, Refusal.Refusal> =>
    decode(headers).pipe(
      Effect.mapError((issue) => {
        const [first] = Input.fromSchemaIssue(issue)
        return TusRefusal.invalidHeader(String(first?.path[0] ?? "headers"), first?.message ?? "is invalid")
      })
    )
}

const decodeFixed = decoder(TusUpload.FixedHeaders)
const decodeDeferred = decoder(TusUpload.DeferredHeaders)
const decodeFinal = decoder(TusUpload.FinalHeaders)
const decodeAppend = decoder(TusUpload.AppendHeaders)

/**
 * Decodes the headers of a request that creates an upload. Each kind of new upload has its own schema: a final upload
 * (`upload-concat: final;…`), an upload with a deferred length (`upload-defer-length`), and an upload with a length.
 */
const readCreation = Effect.fnUntraced(function* (
  headers: Headers.Headers
): Effect.fn.Return<Uploads.Creation, Refusal.Refusal> {
  const header = headers["upload-metadata"] ?? ""
  const concat = headers["upload-concat"]
  if (concat?.startsWith("final") === true) {
    const decoded = yield* decodeFinal(headers)
    const parts = decoded["upload-concat"].slice("final;".length).split(" ")
    return { header, metadata: decoded["upload-metadata"], concat, parts, length: undefined }
  }
  if ("upload-defer-length" in headers) {
    const { "upload-metadata": metadata } = yield* decodeDeferred(headers)
    return { header, metadata, concat, parts: undefined, length: undefined }
  }
  const { "upload-length": length, "upload-metadata": metadata } = yield* decodeFixed(headers)
  return { header, metadata, concat, parts: undefined, length }
})

/** The announced length of the body. The HTTP server has already checked that `content-length` is a number. */
const bodySize = (headers: Headers.Headers): bigint | undefined => {
  const length = headers["content-length"]
  return length === undefined ? undefined : BigInt(length)
}

/** The `upload-expires` header (tus 1.0.0, "Expiration"). */
const expiryHeader = (at: DateTime.Utc | undefined): Readonly<Record<string, string>> =>
  at === undefined ? {} : { "upload-expires": DateTime.toDateUtc(at).toUTCString() }

const body = (request: Request) => Stream.mapError(request.stream, () => TusRefusal.refuse("brokenBody"))

const handlers = Effect.gen(function* () {
  const expiry = yield* Expiry.Expiry
  const origin = yield* Origin.Origin
  const uploads = yield* Uploads.make
  const uploadId = Effect.map(HttpRouter.params, ({ uploadId: id = "" }) => id)

  const created = ({ offset, row }: Uploads.Upload) =>
    empty(201, { location: origin.uploadUrl(row.id), "upload-offset": String(offset), ...expiryHeader(expiry.of(row)) })

  const create = Effect.fnUntraced(function* (request: Request) {
    const { headers } = request
    yield* checkVersion(headers)
    const creation = yield* readCreation(headers)
    if (creation.parts !== undefined) return created(yield* uploads.concatenate(creation, creation.parts))
    const checksum = yield* readChecksum(headers)
    const size = bodySize(headers)
    if (creation.length !== undefined && size !== undefined && size > creation.length) {
      return yield* TusRefusal.refuse("sizeExceeded")
    }
    const upload = yield* uploads.create(creation)
    if (headers["content-type"] !== TusUpload.offsetOctetStream) return created(upload)
    const { id } = upload.row
    const offset = yield* uploads
      .append({ id, offset: 0n, length: undefined, size, checksum, bytes: body(request) })
      // If the checksum does not match, the upload is terminated, because the refusal does not tell the client the URL
      // of the upload.
      .pipe(
        Effect.tapErrorTag("Refusal", ({ code }) =>
          code === "ERR_CHECKSUM_MISMATCH" ? uploads.terminate(id) : Effect.void
        )
      )
    return created({ ...upload, offset })
  })

  const get = Effect.fnUntraced(function* (request: Request) {
    yield* checkVersion(request.headers)
    const { offset, row } = yield* Effect.flatMap(uploadId, uploads.get)
    return empty(200, {
      "cache-control": "no-store",
      "upload-offset": String(offset),
      "upload-metadata": row.metadata,
      ...(row.concat === null ? {} : { "upload-concat": row.concat }),
      ...(row.length === null ? { "upload-defer-length": "1" } : { "upload-length": String(row.length) }),
      ...expiryHeader(expiry.of(row))
    })
  })

  /** Downloads an upload. The request needs no `tus-resumable` header, so that a plain link works. */
  const download = Effect.gen(function* () {
    const { file, row } = yield* Effect.flatMap(uploadId, uploads.download)
    return HttpServerResponse.stream(file, {
      contentType: Option.getOrElse(Mime.getType(row.filename), () => "application/octet-stream"),
      contentLength: Number(row.length),
      headers: {
        ...TusRefusal.tusHeaders,
        // The browser saves an attachment instead of opening it, so an uploaded page cannot run in this origin.
        "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(row.filename)}`
      }
    })
  })

  const append = Effect.fnUntraced(function* (request: Request) {
    const { headers } = request
    yield* checkVersion(headers)
    const id = yield* uploadId
    const { "upload-length": length, "upload-offset": offset } = yield* decodeAppend(headers)
    const checksum = yield* readChecksum(headers)
    const size = bodySize(headers)
    const reached = yield* uploads.append({ id, offset, length, size, checksum, bytes: body(request) })
    return empty(204, { "upload-offset": String(reached) })
  })

  const terminate = Effect.fnUntraced(function* (request: Request) {
    yield* checkVersion(request.headers)
    yield* Effect.flatMap(uploadId, uploads.terminate)
    return empty(204)
  })

  return { create, download, get, append, terminate }
})

/** The response that lists the extensions of the server. The request needs no `tus-resumable` header. */
const discover = empty(200, {
  "tus-version": TusUpload.tusVersion,
  "tus-extension": "creation,creation-defer-length,creation-with-upload,checksum,concatenation,expiration,termination",
  "tus-checksum-algorithm": checksumAlgorithms,
  "tus-max-size": "9223372036854775807"
})

const answered = Refusal.answering(TusRefusal.toResponse, TusRefusal.cannotStore, TusRefusal.refuse("defect"))

const discovered = answered("Tus.discover")(Effect.succeed(discover))

const files = "/resumable/files/"
const file = "/resumable/files/:uploadId"

const routes = Effect.map(handlers, ({ append, create, download, get, terminate }) => [
  HttpRouter.route("OPTIONS", files, discovered),
  HttpRouter.route("OPTIONS", file, discovered),
  HttpRouter.route("POST", files, (request) => answered("Tus.create")(create(request))),
  HttpRouter.route("HEAD", file, (request) => answered("Tus.offset")(get(request))),
  HttpRouter.route("GET", file, answered("Tus.download")(download)),
  HttpRouter.route("PATCH", file, (request) => answered("Tus.append")(append(request))),
  HttpRouter.route("DELETE", file, (request) => answered("Tus.terminate")(terminate(request)))
])

/** The routes under `/resumable/files/` (spec.md, "Create a tus upload"). */
export const layer = HttpRouter.addAll(routes)
