import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Refusal from "../Refusal.ts"

/** Whether the page of an origin is a page of this server, by the `host` that the browser sent. */
const isOwn = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && host !== undefined && new URL(origin).host === host.toLowerCase()

/**
 * Refuses a request that a page of another site sent, because the browser adds the cookies of the user to it. A program
 * that is not a browser sends neither header, and has no cookies of a user.
 *
 * `Sec-Fetch-Site` counts first: a page cannot change it, and a proxy does not change what it means. Browsers send it
 * only to https and localhost.
 */
export const check = (
  { headers }: HttpServerRequest.HttpServerRequest,
  origins: ReadonlyArray<string>
): Effect.Effect<void, Refusal.OriginRefused> => {
  const { host, origin } = headers
  const site = headers["sec-fetch-site"]
  if (origin !== undefined && origins.includes(origin)) return Effect.void
  const isPermitted =
    site === undefined ? origin === undefined || isOwn(origin, host) : site === "same-origin" || site === "none"
  return isPermitted
    ? Effect.void
    : Effect.fail(new Refusal.OriginRefused({ problem: "A page of another site may not send this request." }))
}
