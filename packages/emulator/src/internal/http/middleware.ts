import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Types from "effect/Types"
import * as Cors from "./cors.ts"
import * as FaultyAnswer from "./faultyAnswer.ts"
import * as FrontLimit from "./frontLimit.ts"
import * as HeaderLimit from "./headerLimit.ts"
import * as HostCheck from "./hostCheck.ts"
import * as ReadablePath from "./readablePath.ts"
import type * as Quotas from "../../Quotas.ts"
import type * as RequestLog from "../../RequestLog.ts"
import * as RequestLogger from "./requestLog.ts"
import * as Refusal from "./refusal.ts"

/** Sets the `date` header from the clock of the emulator. A client uses this header to correct its own clock. */
const date = HttpRouter.middleware(
  Effect.fnUntraced(function* (handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) {
    const response = yield* handler
    const now = yield* DateTime.now
    return HttpServerResponse.setHeader(response, "date", DateTime.toDateUtc(now).toUTCString())
  }),
  { global: true }
)

/**
 * Responds to requests that match no route. OPTIONS succeeds, because it may be the preflight of a route that is
 * open to all pages. `Cors` refuses the preflights of all other routes.
 */
const elsewhere = HttpRouter.add("*", "/*", ({ method }) =>
  Effect.succeed(
    method === "OPTIONS" ? HttpServerResponse.empty({ status: 204 }) : Refusal.toResponse(Refusal.notFound)
  )
)

/**
 * The middleware of every request, the outermost first, and the route for unknown paths. `Cors` is outside
 * `FaultyAnswer`, so that the responses of injected faults have CORS headers too.
 */
export const layer = (listener: RequestLog.Listener | undefined, quotas: Quotas.Values | undefined) =>
  Layer.mergeAll(
    RequestLogger.layer(listener),
    FrontLimit.layer(quotas),
    HeaderLimit.layer,
    HostCheck.layer,
    Cors.layer,
    FaultyAnswer.layer,
    date,
    ReadablePath.layer,
    elsewhere
  )
