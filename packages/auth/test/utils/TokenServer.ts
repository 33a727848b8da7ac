/**
 * A real HTTP server for `POST /token`. It responds by a script, with one entry for each request.
 */
import { type AuthError, Credentials, Tokens, type TokenStore } from "@assembly-effect/auth"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import { Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

/** Responds to one request. `index` counts the requests to the server. */
export type Answer = (...request: [...Parameters<Server.Answer>, index: number]) => void

export const answer = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer =>
  typeof body === "string" || body instanceof Uint8Array
    ? Server.text(status, body, headers)
    : Server.json(status, body, headers)

/** A token whose text counts the requests: `token-1`, `token-2`, … */
export const token =
  (fields: object = {}): Answer =>
  (request, response, index) =>
    Server.json(200, { access_token: `token-${index}`, ...fields })(request, response)

/** The scopes in the requests that a server has received. */
export const scopesIn = ({ received }: Pick<Server.HostileServer, "received">) =>
  received.map(({ body }) => new URLSearchParams(body).get("scope"))

/** A server that ends with the scope, including its connections. The last entry of the script is repeated. */
export const make = (...script: ReadonlyArray<Answer>) => {
  let index = 0
  const answers = script.map(
    (one): Server.Answer =>
      (request, response) =>
        one(request, response, ++index)
  )
  return Effect.map(Server.answering(...answers), ({ baseUrl, received }) => ({
    received,
    baseUrl: SecureUrl.make(baseUrl)
  }))
}

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
