import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Mime from "effect/http/Mime"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"
import * as Refusal from "../http/refusal.ts"
import * as FileStore from "./fileStore.ts"
import type * as Headers from "effect/http/Headers"
import type { ByteRange } from "./fileStore.ts"

/** The range that a request asks for: `whole` for the whole file, `none` if the file does not have these bytes. */
type Asked = ByteRange | "whole" | "none"

/**
 * Reads `Range` and `If-Range`, which contains a strong ETag or a date that must match exactly (RFC 9110, 13.1.5). A
 * request for several ranges, or a malformed header, gets the whole file, as RFC 9110 permits. `validators`: the values
 * that identify the bytes of the file.
 */
const askedRange = (headers: Headers.Headers, size: number, validators: ReadonlyArray<string>): Asked => {
  const { "if-range": condition, range } = headers
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(range ?? "") ?? []
  const isChanged = condition !== undefined && !validators.includes(condition)
  if ((first === "" && last === "") || isChanged) return "whole"
  if (first === "") {
    const length = Math.min(size, Number(last))
    return length === 0 ? "none" : { offset: size - length, length }
  }
  const offset = Number(first)
  if (last !== "" && Number(last) < offset) return "whole"
  const end = last === "" ? size : Math.min(size, Number(last) + 1)
  return offset >= size ? "none" : { offset, length: end - offset }
}

/** A stored version of an asset, or a finished upload. `blob` is the id of the blob that contains the bytes. */
const Row = Schema.Struct({
  blob: Schema.String,
  filename: Schema.String,
  mime: Schema.NullOr(Schema.String),
  size: Schema.Int,
  sha256: Schema.String,
  created_at: Schema.Int
})

const first = Statement.rows(Row).first

const path = "/results/:resultId/:filename"

const notFound = Refusal.server(404, "There is no such result.")

const routes = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const files = yield* FileStore.FileStore

  /**
   * Finds a version of an asset, which may be older than the current version, or an upload that Steps can process.
   * Finds no version of a deleted asset.
   */
  const find = (id: string) =>
    first(sql`
      SELECT versions.blob, assets.filename, versions.mime, versions.size, versions.sha256, versions.created_at
      FROM versions JOIN assets ON assets.id = versions.asset_id
      WHERE versions.id = ${id} AND assets.deleted_at IS NULL
      UNION ALL
      SELECT id, filename, NULL, CAST(length AS INTEGER), sha256, created_at FROM uploads
      WHERE id = ${id} AND finished_at IS NOT NULL AND kind <> 'partial'`)

  const serve = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { resultId = "" } = yield* HttpRouter.params
    const found = yield* find(resultId)
    if (Option.isNone(found)) return Refusal.toResponse(notFound)
    const { blob, created_at, filename, mime, sha256, size } = found.value
    const headers = {
      etag: `"${sha256}"`,
      "last-modified": DateTime.toDateUtc(DateTime.makeUnsafe(created_at)).toUTCString(),
      "accept-ranges": "bytes",
      // The browser saves an attachment instead of opening it, so an uploaded page cannot run in this origin.
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename)}`
    }
    const asked = askedRange(request.headers, size, [headers.etag, headers["last-modified"]])
    if (asked === "none") {
      return HttpServerResponse.empty({ status: 416, headers: { ...headers, "content-range": `bytes */${size}` } })
    }
    const range = asked === "whole" ? { offset: 0, length: size } : asked
    const end = range.offset + range.length - 1
    return HttpServerResponse.stream(files.read(blob, range), {
      status: asked === "whole" ? 200 : 206,
      contentType: mime ?? Option.getOrElse(Mime.getType(filename), () => "application/octet-stream"),
      contentLength: range.length,
      headers: asked === "whole" ? headers : { ...headers, "content-range": `bytes ${range.offset}-${end}/${size}` }
    })
  }).pipe(Refusal.answered(`GET ${path}`))

  return [HttpRouter.route("GET", path, serve), HttpRouter.route("HEAD", path, serve)]
})

/**
 * `GET /results/:resultId/:filename`: the bytes of a result of a Step, or a range of these bytes. The id is the id of a
 * stored version (`/transloadit/store`) or of the upload whose bytes the other robots return. The request needs no
 * credentials, because both ids are secret. The service has no such path, because the service stores results elsewhere.
 */
export const layer = HttpRouter.addAll(routes)
