/**
 * A real HTTP server for `POST /token`. It responds by a script, with one entry for each request.
 */
import type * as AuthError from "@assembly-effect/auth/AuthError"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Tokens from "@assembly-effect/auth/Tokens"
import type * as TokenStore from "@assembly-effect/auth/TokenStore"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Behaviour from "@assembly-effect/testkit/hostile/Behaviour"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"

export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly form: URLSearchParams
}

export type Answer = (request: Received, response: ServerResponse, index: number) => void

export const answer =
  (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, headers)
    response.end(typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body))
  }

/** A token whose text counts the requests: `token-1`, `token-2`, … */
export const token =
  (fields: object = {}): Answer =>
  (request, response, index) =>
    answer(200, { access_token: `token-${index}`, ...fields })(request, response, index)

/** Cuts the connection before any response. */
export const cut: Answer = Behaviour.reset

/** Never responds. */
export const silence: Answer = Behaviour.silence

/** Sends an endless body. */
export const endless: Answer = Behaviour.endless(200)

const read = async (request: IncomingMessage): Promise<Received> => {
  let body = ""
  for await (const chunk of request) body += String(chunk)
  return {
    method: request.method ?? "",
    path: request.url ?? "",
    headers: request.headers,
    form: new URLSearchParams(body)
  }
}

/** A server that ends with the scope, including its connections. The last entry of the script is repeated. */
export const make = Effect.fnUntraced(function* (...script: ReadonlyArray<Answer>) {
  const received: Array<Received> = []
  const baseUrl = yield* Loopback.serve(async (request, response) => {
    const arrived = await read(request)
    received.push(arrived)
    script[Math.min(received.length, script.length) - 1]?.(arrived, response, received.length)
  })
  return { received, baseUrl: SecureUrl.make(baseUrl) }
})

const credentials = (secret: string) =>
  Layer.orDie(Credentials.layer({ key: "test-key", secret: Redacted.make(secret) }))

/** The tokens of a separate process. */
export const tokens = (
  options?: Tokens.Options,
  store: Layer.Layer<TokenStore.TokenStore> | Layer.Layer<never> = Layer.empty,
  secret = "test-secret"
): Layer.Layer<Tokens.Tokens, InvalidRequest> =>
  Tokens.layer(options).pipe(Layer.provide([credentials(secret), FetchHttpClient.layer, store]), Layer.fresh)

/** The text of the current token. */
export const get = (
  request: Parameters<Tokens.Tokens["Service"]["get"]>[0]
): Effect.Effect<string, AuthError.AuthError, Tokens.Tokens> =>
  Tokens.Tokens.use((service) => Effect.map(service.get(request), ({ value }) => Redacted.value(value)))

export const refuse = (text: string): Effect.Effect<void, never, Tokens.Tokens> =>
  Tokens.Tokens.use((service) => service.refused(Redacted.make(text)))
