import * as Printable from "@assembly-effect/schema/unstable/Printable"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import type * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Types from "effect/Types"
import * as Origin from "./origin.ts"
import * as RouteRefusal from "./routeRefusal.ts"

/** Escapes a host for the error message. A host name has at most 253 characters, so a longer text is cut off. */
const shown = (host: string): string => Printable.escape(host.slice(0, 253))

/** 421 Misdirected Request (RFC 9110, 15.5.20). */
const refusal = (host: string) => ({
  code: "HOST_NOT_ALLOWED",
  status: 421,
  message:
    `The emulator does not answer at the host "${shown(host)}". ` +
    "Add the host to allowedHosts (--allowed-host), or make it the publicUrl (--public-url)."
})

/**
 * Refuses requests to unknown hosts. An attacker can make a host name resolve to this machine (DNS rebinding). A page
 * from that host name then reaches the emulator in its own origin, so CORS does not stop the page.
 */
export const layer = HttpRouter.middleware(
  Effect.map(Origin.Origin, (origin) =>
    Effect.fnUntraced(function* (handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { host = "" } = request.headers
      return origin.isHost(host) ? yield* handler : RouteRefusal.toResponse(request, refusal(host))
    })
  ),
  { global: true }
)
