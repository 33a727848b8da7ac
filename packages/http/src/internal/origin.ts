import type * as Settings from "@assembly-effect/auth/unstable/Settings"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Refusal from "../Refusal.ts"

/** Whether a text is an origin as browsers write it: in lower case, without the default port, a path or user info. */
const isOrigin = (text: string): boolean => {
  if (text.includes("*") || !URL.canParse(text)) return false
  const { host, origin, protocol } = new URL(text)
  // The pages of an app may have a scheme of their own, such as `capacitor:`, whose URLs have no origin.
  return host !== "" && text === (origin === "null" ? `${protocol}//${host}` : origin)
}

/** The options `origins` that are no origin. They would permit no page, because origins are compared as texts. */
export const issues = (origins: ReadonlyArray<string>): ReadonlyArray<Settings.Issue> =>
  origins.flatMap((origin, index) =>
    isOrigin(origin)
      ? []
      : [
          {
            path: ["origins", String(index)],
            message: `Expected an origin such as https://app.example.com, got ${JSON.stringify(origin)}`
          }
        ]
  )

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
