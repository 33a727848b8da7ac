import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Types from "effect/Types"
import * as Origin from "./Origin.ts"
import * as RequestPath from "./RequestPath.ts"
import * as RouteRefusal from "./RouteRefusal.ts"

/**
 * What a page of any origin may ask for, as it may ask the service: it uploads to an Assembly, follows it and cancels
 * it. For that it needs a signature, the id of an Assembly or an upload URL, and no cookie. Whatever is not listed is
 * for programs alone.
 */
const open: ReadonlyArray<readonly [path: string, methods: ReadonlyArray<string>]> = [
  ["/assemblies", ["POST"]],
  ["/assemblies/:assemblyId", ["POST", "GET", "DELETE"]],
  ["/assemblies/:assemblyId/updates", ["GET"]],
  ["/resumable/files", ["POST", "OPTIONS"]],
  ["/resumable/files/:uploadId", ["HEAD", "GET", "PATCH", "DELETE", "OPTIONS"]]
]

const openMethods = (request: HttpServerRequest.HttpServerRequest): ReadonlyArray<string> =>
  open.find(([path]) => RequestPath.matches(path, RequestPath.of(request)))?.[1] ?? []

/** What a page may send: what tusd allows, and `upload-checksum`, which it does not know. */
const allowed = {
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

const refusal = {
  code: "ORIGIN_NOT_ALLOWED",
  status: 403,
  message:
    "A page of another origin may create an Assembly, follow and cancel it, and upload to it, and nothing else. " +
    "Ask from a program, or from a page of the same origin (publicUrl, --public-url)."
}

/** The method that a browser asks for before it sends a request that is no simple one. */
const preflightOf = ({ headers, method }: HttpServerRequest.HttpServerRequest): string | undefined =>
  method === "OPTIONS" ? headers["access-control-request-method"] : undefined

const isSafe = (method: string): boolean => ["GET", "HEAD", "OPTIONS"].includes(method)

/** `Host` has been checked before (`Hosts`). */
const isOwn = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()

/**
 * Whether a browser says that a page of another origin asks. A program says nothing of this kind, and a page can change
 * none of these headers. Older browsers, and pages on plain `http`, say only their origin.
 */
const isForeign = ({ host, origin, "sec-fetch-site": site }: Headers.Headers, baseUrl: string): boolean => {
  if (site !== undefined) return site !== "same-origin" && site !== "none"
  return origin !== undefined && origin !== baseUrl && !isOwn(origin, host)
}

/**
 * Lets a page ask for what is open to it, and for nothing else: it gets no preflight through, reads no answer, and
 * changes nothing by a form that it posts without a preflight. Answers that are open to it say so whatever they say,
 * since a page cannot read the others.
 */
export const layer = HttpRouter.middleware(
  Effect.map(Origin.Origin, ({ baseUrl }) =>
    Effect.fnUntraced(function* (handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { headers, method } = request
      const preflight = preflightOf(request)
      const methods = openMethods(request)
      if (!methods.includes(preflight ?? method)) {
        const isChange = isForeign(headers, baseUrl) && !isSafe(method)
        return isChange || preflight !== undefined ? RouteRefusal.toResponse(request, refusal) : yield* handler
      }
      const response = yield* handler
      if (headers["origin"] === undefined) return response
      return HttpServerResponse.setHeaders(response, {
        "access-control-allow-origin": headers["origin"],
        vary: "Origin",
        ...(preflight === undefined ? exposed : { ...allowed, "access-control-allow-methods": methods.join(", ") })
      })
    })
  ),
  { global: true }
)
