import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Types from "effect/Types"
import * as Limits from "../../Limits.ts"
import * as Refusal from "./refusal.ts"
import * as Sessions from "./sessions.ts"

/** Refuses HTTP/2 headers that are too large. For HTTP/1.1, the parser of Node refuses headers that are too large. */
export const layer = HttpRouter.middleware(
  Effect.map(Limits.Limits, (limits) =>
    Effect.fnUntraced(function* (handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) {
      const request = NodeHttpServerRequest.toIncomingMessage(yield* HttpServerRequest.HttpServerRequest)
      const isTooLarge = request.httpVersionMajor === 2 && Sessions.headerBytes(request.rawHeaders) > limits.headers
      return isTooLarge ? Refusal.toResponse(Refusal.tooLargeHeaders) : yield* handler
    })
  ),
  { global: true }
)
