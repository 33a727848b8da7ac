import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Result from "effect/Result"
import type * as Types from "effect/Types"
import * as Refusal from "./refusal.ts"
import * as RouteRefusal from "./routeRefusal.ts"

const isReadable = (url: string): boolean =>
  Result.isSuccess(Result.try(() => decodeURIComponent(url.split("?", 1)[0] ?? "")))

/**
 * Refuses a path with invalid percent-encoding. The status is 404. Without this middleware, the router would send an
 * empty response.
 */
export const layer = HttpRouter.middleware(
  Effect.fnUntraced(function* (handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) {
    const request = yield* HttpServerRequest.HttpServerRequest
    return isReadable(request.url) ? yield* handler : RouteRefusal.toResponse(request, Refusal.notFound)
  }),
  { global: true }
)
