import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Types from "effect/Types"
import * as Refusal from "./refusal.ts"
import * as TusRefusal from "../tus/tusRefusal.ts"

export type Request = HttpServerRequest.HttpServerRequest
export type Response = HttpServerResponse.HttpServerResponse

/** The handler of a route. A middleware passes on the errors of the route without handling them. */
export type Handler = Effect.Effect<Response, Types.unhandled>

/** A middleware around the handlers of all requests. */
export type Around = (
  handler: Handler,
  request: Request
) => Effect.Effect<Response, Types.unhandled, HttpServerRequest.HttpServerRequest>

export const layer = (around: Around) =>
  HttpRouter.middleware(
    (handler: Handler) => Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => around(handler, request)),
    { global: true }
  )

/** The path of a request, without its query. */
export const pathOf = ({ url }: Pick<Request, "url">): string => url.split("?", 1)[0] ?? ""

const segments = (path: string): ReadonlyArray<string> => path.replace(/\/$/, "").split("/")

/** Whether a path matches the pattern of a route. A pattern segment that starts with `:` matches any segment. */
export const matches = (pattern: string, request: Request): boolean => {
  const expected = segments(pattern)
  const actual = segments(pathOf(request))
  return (
    expected.length === actual.length &&
    expected.every((segment, index) => segment.startsWith(":") || segment === actual[index])
  )
}

/**
 * Converts the refusal of a middleware to a response. A tus path gets a tus error; any other path gets an API error.
 */
export const refused = (request: Request, refusal: Refusal.Refusal): Response =>
  pathOf(request).startsWith("/resumable/")
    ? TusRefusal.toResponse(Refusal.refuse(`ERR_${refusal.code}`, refusal.status, refusal.message))
    : Refusal.toResponse(refusal)
