import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Types from "effect/Types"

/** What a page may send: what tusd allows, and `upload-checksum`, which it does not know. */
const allowed = {
  "access-control-allow-methods": "POST, HEAD, PATCH, OPTIONS, GET, DELETE, PUT",
  "access-control-allow-headers": [
    "authorization, content-type, origin, tus-resumable, upload-checksum, upload-concat, upload-defer-length",
    "upload-length, upload-metadata, upload-offset, x-http-method-override, x-request-id, x-requested-with"
  ].join(", "),
  "access-control-max-age": "86400"
}

/** What a page may read: what tusd exposes, what checksums and expiry add, and what tells the time. */
const exposed = {
  "access-control-expose-headers": [
    "date, location, tus-checksum-algorithm, tus-extension, tus-max-size, tus-resumable, tus-version, upload-concat",
    "upload-defer-length, upload-expires, upload-length, upload-metadata, upload-offset"
  ].join(", ")
}

/**
 * A page of any origin may ask, as it may ask the service: what it needs are an upload URL, the id of an Assembly or a
 * signature, and no cookie. Answers carry it whatever they say, since a page cannot read the others.
 */
export const layer = HttpRouter.middleware(
  Effect.fnUntraced(function* (handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) {
    const request = yield* HttpServerRequest.HttpServerRequest
    const response = yield* handler
    const { origin } = request.headers
    if (origin === undefined) return response
    return HttpServerResponse.setHeaders(response, {
      "access-control-allow-origin": origin,
      vary: "Origin",
      ...(request.method === "OPTIONS" ? allowed : exposed)
    })
  }),
  { global: true }
)
