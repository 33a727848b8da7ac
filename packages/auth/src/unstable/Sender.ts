/**
 * Sends one small request, and gathers its whole response. Operations and tokens use this module. Requests whose bodies
 * are streams, and responses that are read as streams, use `Transport.send`.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpMethod from "effect/http/HttpMethod"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as ReadBody from "../internal/readBody.ts"
import type { Gathered, Lost } from "./Failure.ts"
import * as Transport from "./Transport.ts"

/**
 * A request. `path` is the path with the query. A `body` has a content type.
 *
 * @since 0.1.0
 * @category models
 */
export interface Outgoing {
  readonly method: HttpMethod.HttpMethod
  readonly origin: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: { readonly content: string | Uint8Array; readonly contentType: string } | undefined
}

/**
 * - `maxBytes`: the maximum size of the body of the response. Reading stops at the chunk that exceeds it.
 * - `millis`: the time from sending the request to the end of a successful response. The body of any other response may
 *   take {@link restMillis} after its status, because the status has decided the outcome.
 * - `isDecidedByStatus`: whether this holds for a success too, because its body says nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  readonly maxBytes: number
  readonly millis: number
  readonly isDecidedByStatus?: true | undefined
}

/**
 * The time is over, and no status has decided the outcome.
 *
 * @since 0.1.0
 * @category errors
 */
export class Late extends Data.TaggedError("Late") {}

/**
 * The time for the body of a response that is not a success, in milliseconds.
 *
 * @since 0.1.0
 * @category utilities
 */
export const restMillis = ReadBody.restMillis

/**
 * Sends a request once, to its own origin and with its own body, and follows no redirect. An interruption closes the
 * connection. The body of a redirect is not read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sender {
  (request: Outgoing, limits: Limits): Effect.Effect<Gathered, Lost | Late>
}

const senders = new WeakMap<HttpClient.HttpClient, Sender>()

/**
 * Registers how exactly this client sends. A client that is made from this client, for example with
 * `HttpClient.mapRequest`, has another sender.
 *
 * @since 0.1.0
 * @category registration
 */
export const register = (http: HttpClient.HttpClient, sender: Sender): void => {
  senders.set(http, sender)
}

const toRequest = ({ body, headers, method, origin, path }: Outgoing): HttpClientRequest.HttpClientRequest => {
  const request = HttpClientRequest.make(method)(origin + path, { headers })
  if (body === undefined) return request
  const { content, contentType } = body
  const own =
    typeof content === "string" ? HttpBody.text(content, contentType) : HttpBody.uint8Array(content, contentType)
  return HttpClientRequest.setBody(request, own)
}

const nothing = new Uint8Array(0)

/** A response whose body did not end, so that its connection must be closed. */
class Cut extends Data.TaggedError("Cut")<{ readonly gathered: Gathered }> {}

/** The sender of a client that this library does not know: each of its sends passes the guard of `Transport.send`. */
const guarded =
  (http: HttpClient.HttpClient): Sender =>
  (request, { isDecidedByStatus, maxBytes, millis }) =>
    Transport.send(http, toRequest(request)).pipe(
      Effect.flatMap((response): Effect.Effect<Gathered, Cut> => {
        const { headers, status } = response
        if (Transport.isRedirect(status)) {
          return Effect.fail(new Cut({ gathered: { status, headers, bytes: nothing, end: "whole" } }))
        }
        return Effect.flatMap(ReadBody.gather(response, { maxBytes, isDecided: isDecidedByStatus }), (gathered) =>
          gathered.end === "whole" ? Effect.succeed(gathered) : Effect.fail(new Cut({ gathered }))
        )
      }),
      Transport.scopedToFailure,
      Effect.catchTag("Cut", ({ gathered }) => Effect.succeed(gathered)),
      (exchange) =>
        Number.isFinite(millis)
          ? ReadBody.withLimit(exchange, Effect.andThen(Effect.sleep(millis), new Late()))
          : exchange
    )

/**
 * The sender of a client: the registered sender, else a sender that guards each send.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = (http: HttpClient.HttpClient): Sender => senders.get(http) ?? guarded(http)
