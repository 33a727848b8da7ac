import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Around from "./around.ts"
import * as Refusal from "./refusal.ts"
import type * as Origin from "./origin.ts"

/**
 * The routes that a page of any origin may use, as with the service. A page can create, follow and cancel an Assembly,
 * upload to the Assembly, and download its uploads and results. These routes use no cookies. Except for OPTIONS, a
 * request needs a signature, a bearer token, the id of an Assembly, an upload URL, or the URL of a result. The other
 * routes are for programs and for pages of the emulator's own origin.
 */
const open: ReadonlyArray<readonly [path: string, methods: ReadonlyArray<string>]> = [
  ["/assemblies", ["POST"]],
  ["/assemblies/:assemblyId", ["POST", "GET", "DELETE"]],
  ["/assemblies/:assemblyId/updates", ["GET"]],
  ["/resumable/files", ["POST", "OPTIONS"]],
  ["/resumable/files/:uploadId", ["HEAD", "GET", "PATCH", "DELETE", "OPTIONS"]],
  ["/results/:resultId/:filename", ["HEAD", "GET"]]
]

const openMethods = (request: Around.Request): ReadonlyArray<string> =>
  open.find(([path]) => Around.matches(path, request))?.[1] ?? []

/**
 * The headers that a page may send: the headers that tusd allows for tus 1.0.0, `upload-checksum`, `transloadit-client`
 * (Uppy sends its version in this header), `range` and `if-range`.
 */
const allowed = {
  "access-control-allow-headers": [
    "authorization, content-type, if-range, origin, range, transloadit-client, tus-resumable, upload-checksum, upload-concat",
    "upload-defer-length, upload-length, upload-metadata, upload-offset, x-http-method-override, x-request-id, x-requested-with"
  ].join(", "),
  "access-control-max-age": "86400"
}

/**
 * The headers that a page may read: the headers that tusd exposes for tus 1.0.0, `tus-checksum-algorithm`,
 * `upload-expires`, `date`, `content-range` and `etag`.
 */
const exposed = {
  "access-control-expose-headers": [
    "content-range, date, etag, location, tus-checksum-algorithm, tus-extension, tus-max-size, tus-resumable",
    "tus-version, upload-concat, upload-defer-length, upload-expires, upload-length, upload-metadata, upload-offset"
  ].join(", ")
}

const refusal = Refusal.refuse(
  "ORIGIN_NOT_ALLOWED",
  403,
  "A page of another origin may only create, follow and cancel an Assembly, upload to it, and download its results. " +
    "Use a program, or a page of the same origin (publicUrl, --public-url)."
)

/** The method that a preflight request asks for. The result is undefined if the request is not a preflight request. */
const preflightOf = ({ headers, method }: Around.Request): string | undefined =>
  method === "OPTIONS" ? headers["access-control-request-method"] : undefined

const isSafe = (method: string): boolean => ["GET", "HEAD", "OPTIONS"].includes(method)

/** Whether the origin of a page has the host of the request. `HostCheck` has already checked this host. */
const isOwn = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()

/**
 * Whether the request comes from a page of another origin. Programs send neither `sec-fetch-site` nor `origin`, and a
 * page cannot change these headers. Older browsers do not send `sec-fetch-site`. No browser sends this header to plain
 * `http`, except on loopback.
 */
const isForeign = ({ host, origin, "sec-fetch-site": site }: Headers.Headers, baseUrl: string): boolean => {
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return origin !== undefined && origin !== baseUrl && !isOwn(origin, host)
}

/**
 * Lets pages of other origins use only the routes of {@link open}. On all other routes, preflights are refused, and
 * requests of pages of other origins that change data are refused. A page of another origin cannot read any response of
 * these other routes. Every response of an open route to a page has the CORS headers, so that the page can read the
 * response, even an error.
 */
export const around = ({ baseUrl }: Pick<Origin.Origin["Service"], "baseUrl">): Around.Around =>
  Effect.fnUntraced(function* (handler, request) {
    const { headers, method } = request
    const preflight = preflightOf(request)
    const methods = openMethods(request)
    if (!methods.includes(preflight ?? method)) {
      const isChange = isForeign(headers, baseUrl) && !isSafe(method)
      return isChange || preflight !== undefined ? Around.refused(request, refusal) : yield* handler
    }
    const response = yield* handler
    if (headers["origin"] === undefined) return response
    return HttpServerResponse.setHeaders(response, {
      "access-control-allow-origin": headers["origin"],
      vary: "Origin",
      ...(preflight === undefined ? exposed : { ...allowed, "access-control-allow-methods": methods.join(", ") })
    })
  })
