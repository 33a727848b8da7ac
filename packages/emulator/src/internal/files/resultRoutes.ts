import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"
import * as Refusal from "../http/refusal.ts"
import * as ByteRange from "./byteRange.ts"
import * as FileStore from "./fileStore.ts"

/** A stored version of an asset. `blob` is the id of the blob that contains the bytes of the version. */
const Row = Schema.Struct({
  blob: Schema.String,
  filename: Schema.String,
  mime: Schema.NullOr(Schema.String),
  size: Schema.Int,
  sha256: Schema.String,
  created_at: Schema.Int
})

const first = Statement.first(Row)

const path = "/results/:versionId/:filename"

const notFound = Refusal.server(404, "There is no such result.")

const routes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const files = yield* FileStore.FileStore

  /** Finds a version of an asset, which may be older than the current version. Finds no version of a deleted asset. */
  const find = (versionId: string) =>
    first(sql`
      SELECT versions.blob, assets.filename, versions.mime, versions.size, versions.sha256, versions.created_at
      FROM versions JOIN assets ON assets.id = versions.asset_id
      WHERE versions.id = ${versionId} AND assets.deleted_at IS NULL`)

  const serve = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { versionId = "" } = yield* HttpRouter.params
    const found = yield* find(versionId)
    if (Option.isNone(found)) return Refusal.toResponse(notFound)
    const { blob, created_at, filename, mime, sha256, size } = found.value
    const validators = {
      etag: `"${sha256}"`,
      lastModified: DateTime.toDateUtc(DateTime.makeUnsafe(created_at)).toUTCString()
    }
    const headers = {
      etag: validators.etag,
      "last-modified": validators.lastModified,
      "accept-ranges": "bytes",
      // The browser saves an attachment instead of opening it, so an uploaded page cannot run in this origin.
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`
    }
    const asked = ByteRange.read(request.headers, size, validators)
    if (asked === "none") {
      return HttpServerResponse.empty({ status: 416, headers: { ...headers, "content-range": `bytes */${size}` } })
    }
    const range = asked === "whole" ? { offset: 0, length: size } : asked
    const end = range.offset + range.length - 1
    return HttpServerResponse.stream(files.read(blob, range), {
      status: asked === "whole" ? 200 : 206,
      contentType: mime ?? "application/octet-stream",
      contentLength: range.length,
      headers: asked === "whole" ? headers : { ...headers, "content-range": `bytes ${range.offset}-${end}/${size}` }
    })
  }).pipe(Refusal.answered(`GET ${path}`))

  return [HttpRouter.route("GET", path, serve), HttpRouter.route("HEAD", path, serve)]
})

/**
 * `GET /results/:versionId/:filename`: the bytes of a result of `/transloadit/store`, or a range of these bytes. The
 * request needs no credentials, because the id of the version is secret. The service has no such path, because the
 * service stores results elsewhere.
 */
export const layer = HttpRouter.addAll(routes)
