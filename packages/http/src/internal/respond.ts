import * as Effect from "effect/Effect"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Refusal from "../Refusal.ts"

/**
 * The headers of each successful answer of {@link to}. Caches must not store the answer, and a browser must not guess
 * its content type.
 */
const headers = { "cache-control": "no-store", "x-content-type-options": "nosniff" }

/**
 * The answer of a route that makes its own response, or its error as JSON. A defect is logged, and the answer does not
 * describe it.
 */
export const stream = <E extends HttpServerRespondable.Respondable, R>(
  route: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, never, R> =>
  route.pipe(
    Effect.catch((error) => HttpServerRespondable.toResponse(error)),
    Effect.catchDefect(defect)
  )

/** Like {@link stream}, for a route whose value is sent as JSON. */
export const to = <A, E extends HttpServerRespondable.Respondable, R>(route: Effect.Effect<A, E, R>) =>
  stream(Effect.map(route, (value) => HttpServerResponse.jsonUnsafe(value, { headers })))

/** The answer if the application has a defect. */
export const failed = new Refusal.ApplicationFailed({ description: "The application failed." })

/** Logs a defect, and makes an answer that does not describe it. */
const defect = (what: unknown) =>
  Effect.logError("A route failed", what).pipe(Effect.andThen(HttpServerRespondable.toResponse(failed)))

/** The errors of every route that reads a body. */
export const errors = [
  Refusal.BodyMalformed,
  Refusal.BodyTooSlow,
  Refusal.BodyTooLarge,
  Refusal.UnsupportedBody,
  Refusal.ApplicationFailed,
  Refusal.Busy
] as const

/** The errors of a route for pages, whose requests a policy may refuse. */
export const errorsForPages = [...errors, ...Refusal.PolicyRefusal.members, Refusal.OriginRefused] as const
