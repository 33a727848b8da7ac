import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Schema from "effect/Schema"
import * as Refusal from "../Refusal.ts"

/** Whether a text is an origin as browsers write it: in lower case, without the default port, a path or user info. */
const isOrigin = (text: string): boolean => {
  if (text.includes("*") || !URL.canParse(text)) return false
  const { host, origin, protocol } = new URL(text)
  // The pages of an app may have a scheme of their own, such as `capacitor:`, whose URLs have no origin.
  return host !== "" && text === (origin === "null" ? `${protocol}//${host}` : origin)
}

/** An entry of the option `origins`. Origins are compared as texts, so any other entry would permit no page. */
export const Origin = Schema.String.check(
  Schema.makeFilter(isOrigin, { expected: "an origin such as https://app.example.com" })
)

/**
 * Whether an origin has the host and the port of this server. `host` is the `host` header of the request. The schemes
 * are not compared.
 */
const isOwn = (origin: string, host: string | undefined): boolean =>
  URL.canParse(origin) && host !== undefined && new URL(origin).host === host.toLowerCase()

/**
 * Refuses a request from a page of another origin, unless `origins` contains this origin. A request from such a page is
 * dangerous, because the browser adds the cookies of the user. A request without `Sec-Fetch-Site` and `Origin` is
 * accepted: a browser sends `Origin` with every POST request, and with every request whose answer a page of another
 * origin may read.
 *
 * If `origins` does not contain the origin and the request has `Sec-Fetch-Site`, this header decides. A page cannot
 * change `Sec-Fetch-Site`, and a proxy that changes `Host` does not affect it. Browsers send `Sec-Fetch-Site` only to
 * https URLs and to hosts on the same machine, such as `localhost`. Without `Sec-Fetch-Site`, `Origin` is compared with
 * `Host`.
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
    : Effect.fail(new Refusal.OriginRefused({ description: "A page of another site may not send this request." }))
}
