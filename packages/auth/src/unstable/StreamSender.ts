/**
 * Sends requests with streamed bodies, under the same rules as a `Sender`.
 */
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Guard from "../internal/guard.ts"
import * as StreamGuard from "../internal/streamGuard.ts"
import type { Gathered, Lost } from "./Outcome.ts"
import * as Gathering from "./Gathering.ts"
import type { Outgoing } from "./Sender.ts"

/**
 * The redirect mode of `fetch`, `manual` or `error`. A redirect is not followed in either mode. With `error`, `fetch`
 * does not keep a copy of a streamed body. Some runtimes, such as workerd, do not support `error`. In such a runtime, a
 * streamed request gets the status of the redirect, as other requests do.
 */
const redirectMode = (): RequestRedirect => {
  try {
    return new Request("https://example.com", { redirect: "error" }).redirect
  } catch {
    return "manual"
  }
}

/**
 * Whether a request declared the length of its streamed body (`content-length`). `fetch` sends a stream without its
 * length, although the request has the header.
 */
const declaresLength = (response: HttpClientResponse.HttpClientResponse): boolean =>
  response.request.headers["content-length"] !== undefined && Option.isNone(HttpClientResponse.toWeb(response))

/**
 * The limits of a form with files. `millis` is the time without progress, `left` the time of the whole exchange.
 *
 * @since 0.1.0
 * @category models
 */
export interface FormLimits extends Gathering.Limits {
  readonly left: number
}

/**
 * Sends a multipart form with files. `request` has no body yet. `fields` are the other fields of the form, which come first.
 *
 * @since 0.1.0
 * @category models
 */
export interface FormSender {
  (
    http: HttpClient.HttpClient,
    request: Outgoing,
    fields: Readonly<Record<string, string>>,
    limits: FormLimits
  ): Effect.Effect<Gathered, Lost | Gathering.Late>
}

/**
 * A response that was read after its status, and whether its request declared the length of the body.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sent {
  readonly answer: Gathered
  readonly declaresLength: boolean
}

/**
 * Sends a request with a streamed body, and gathers the response. The status decides the outcome: after it, the body may
 * take `Outcome.restMillis`. `late` fails when the time until the status is over.
 *
 * @since 0.1.0
 * @category utilities
 */
export const send = <E = never>(
  http: HttpClient.HttpClient,
  request: HttpClientRequest.HttpClientRequest,
  maxBytes: number,
  late?: Effect.Effect<never, E>
): Effect.Effect<Sent, Lost | E> =>
  Effect.suspend(() => {
    let isDeclared = false
    let hasStatus = false
    const gathered = Gathering.gather({ maxBytes, millis: Infinity, isDecidedByStatus: true }, (gathering) =>
      Effect.flatMap(Guard.exchange(http, request, redirectMode(), StreamGuard.guard), (response) => {
        isDeclared = declaresLength(response)
        hasStatus = true
        return Gathering.into(response, gathering)
      })
    ).pipe(
      Effect.catch((error) => (error._tag === "Late" ? Effect.die(error) : Effect.fail(error))),
      Effect.map((answer) => ({ answer, declaresLength: isDeclared }))
    )
    if (late === undefined) return gathered
    return Effect.raceFirst(
      gathered,
      late.pipe(Effect.catch((error) => (hasStatus ? Effect.never : Effect.fail(error))))
    )
  })
