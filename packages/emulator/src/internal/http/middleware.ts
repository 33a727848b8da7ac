import * as Printable from "@assembly-effect/schema/unstable/Printable"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Limits from "../limits.ts"
import type * as RequestLog from "../../RequestLog.ts"
import * as Around from "./around.ts"
import * as Cors from "./cors.ts"
import * as Faults from "./faults.ts"
import * as FrontLimit from "./frontLimit.ts"
import * as Origin from "./origin.ts"
import * as Refusal from "./refusal.ts"
import * as RequestLogger from "./requestLog.ts"
import * as Connections from "./connections.ts"

/** Refuses HTTP/2 headers that are too large. For HTTP/1.1, the parser of Node refuses headers that are too large. */
const headerLimit =
  (limits: Limits.Values): Around.Around =>
  (handler, request) => {
    const { httpVersionMajor, rawHeaders } = NodeHttpServerRequest.toIncomingMessage(request)
    return httpVersionMajor === 2 && Connections.headerBytes(rawHeaders) > limits.headers
      ? Effect.succeed(Refusal.toResponse(Refusal.tooLargeHeaders))
      : handler
  }

/**
 * 421 Misdirected Request (RFC 9110, 15.5.20). A host name has at most 253 characters, so a longer text is cut off.
 */
const unknownHost = (host: string) =>
  Refusal.refuse(
    "HOST_NOT_ALLOWED",
    421,
    `The emulator does not answer at the host "${Printable.escape(host.slice(0, 253))}". ` +
      "Add the host to allowedHosts (--allowed-host), or make it the publicUrl (--public-url)."
  )

/**
 * Refuses requests to unknown hosts. An attacker can make a host name resolve to this machine (DNS rebinding). A page
 * from that host name then reaches the emulator in its own origin, so CORS does not stop the page.
 */
const hostCheck =
  (origin: Origin.Origin["Service"]): Around.Around =>
  (handler, request) => {
    const { host = "" } = request.headers
    return origin.isHost(host) ? handler : Effect.succeed(Around.refused(request, unknownHost(host)))
  }

/** Sets the `date` header from the clock of the emulator. A client uses this header to correct its own clock. */
const date: Around.Around = Effect.fnUntraced(function* (handler) {
  const response = yield* handler
  const now = yield* DateTime.now
  return HttpServerResponse.setHeader(response, "date", DateTime.toDateUtc(now).toUTCString())
})

/**
 * Refuses a path with invalid percent-encoding. The status is 404. Without this middleware, the router would send an
 * empty response.
 */
const readablePath: Around.Around = (handler, request) =>
  Result.isSuccess(Result.try(() => decodeURIComponent(Around.pathOf(request))))
    ? handler
    : Effect.succeed(Around.refused(request, Refusal.notFound))

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
 * `Faults`, so that the responses of injected faults have CORS headers too.
 */
export const layer = (listener: RequestLog.Listener | undefined) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const origin = yield* Origin.Origin
      const quotas = yield* Limits.Quotas
      const around = [
        ...(listener === undefined ? [] : [RequestLogger.around(listener)]),
        ...(quotas === undefined ? [] : [FrontLimit.around(quotas)]),
        headerLimit(yield* Limits.Limits),
        hostCheck(origin),
        Cors.around(origin),
        Faults.around(yield* Faults.FaultQueue),
        date,
        readablePath
      ]
      return Layer.mergeAll(elsewhere, ...around.map(Around.layer))
    })
  )
