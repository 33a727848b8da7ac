/**
 * Tests that no value, text, log line or span of `@assembly-effect/auth` or of a failed operation contains the Auth
 * Secret, a token or a signature, even if the server repeats the request in its response.
 */
import * as KeyValueTokenStore from "@assembly-effect/auth/KeyValueTokenStore"
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as AuthError from "@assembly-effect/auth/AuthError"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Signer from "@assembly-effect/auth/Signer"
import * as Tokens from "@assembly-effect/auth/Tokens"
import * as Webhook from "@assembly-effect/auth/Webhook"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Witness from "./witness.ts"
import { assert, describe, it } from "@assembly-effect/testkit/flow"

const secret = "3f9d7c0b1e5a48a2"
const key = "leak-test-key"
const credentials = { key, secret: Redacted.make(secret) }

const http = FetchHttpClient.layer
const known = Credentials.layer(credentials)
const tokens = Tokens.layer().pipe(Layer.provide([known, http]), Layer.fresh)

const authenticators = {
  signed: Authenticator.layerSigned().pipe(Layer.provide(known)),
  bearer: Authenticator.layerBearer(Redacted.make("a-bearer-token-9d41")),
  tokens: Tokens.layerAuthenticator.pipe(Layer.provide(tokens))
}

type Method = keyof typeof authenticators
const methods: ReadonlyArray<Method> = ["signed", "bearer", "tokens"]

const operations = [Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }), Assemblies.create({})]

/** Runs every operation with every authentication method, and checks each result. */
const failAll = (witness: Witness.Witness, baseUrl: string) =>
  Effect.forEach(methods, (method) =>
    Effect.forEach(operations, (operation: Effect.Effect<unknown, unknown, AssemblyClient.AssemblyClient>) =>
      operation.pipe(
        Effect.exit,
        Effect.tap(witness.look),
        Effect.tap((exit) => (Exit.isFailure(exit) ? witness.look(Cause.squash(exit.cause)) : Effect.void)),
        Effect.provide(
          AssemblyClient.layer({ baseUrl }).pipe(
            Layer.provide([
              Witness.watched(witness).pipe(Layer.provide(authenticators[method])),
              http,
              RetryPolicy.layerNone
            ])
          )
        )
      )
    )
  ).pipe(Effect.provide(witness.observe))

const servers: Readonly<Record<string, Effect.Effect<string, never, Scope.Scope>>> = {
  "an error object": Witness.echo((sent, response) => {
    response.writeHead(400)
    response.end(JSON.stringify({ error: "INVALID_SIGNATURE", message: sent, reason: { sent }, assembly_id: sent }))
  }),
  "an error code": Witness.echo((sent, response) => {
    response.writeHead(403)
    response.end(JSON.stringify({ error: sent, http_code: 403 }))
  }),
  "a 401 that repeats all": Witness.echo((sent, response) => {
    response.writeHead(401)
    response.end(JSON.stringify({ error: "BEARER_TOKEN_EXPIRED", message: sent }))
  }),
  "an error page": Witness.echo((sent, response) => {
    response.writeHead(502, { "content-type": "text/html" })
    response.end(`<html>${sent}</html>`)
  }),
  "a page of success": Witness.echo((sent, response) => {
    response.writeHead(200)
    response.end(sent)
  }),
  "a body that is not UTF-8": Witness.echo((sent, response) => {
    response.writeHead(200)
    response.end(Buffer.concat([Buffer.from(sent), Buffer.from([0xff])]))
  }),
  "a redirect": Witness.echo((sent, response) => {
    response.writeHead(302, { location: `https://elsewhere.example/?sent=${encodeURIComponent(sent)}` })
    response.end(sent)
  }),
  "a cut connection": Witness.echo((_, response) => void response.destroy()),
  "a token, and then errors": Witness.echo((sent, response, url) => {
    response.writeHead(url === "/token" ? 200 : 400)
    response.end(
      url === "/token"
        ? JSON.stringify({ access_token: "a-minted-token-77f0", scope: sent })
        : JSON.stringify({ error: "BEARER_TOKEN_INVALID", message: sent, reason: sent })
    )
  })
}

describe("No secret, token or signature is seen", () => {
  it.effect.each(Object.keys(servers))("of an operation that meets %s", function* (name) {
    const witness = Witness.make({ key, secret })
    const baseUrl = yield* servers[name] ?? Effect.die("no such server")
    yield* failAll(witness, baseUrl)
    // The witness knows two secrets of the credentials, two signatures, a given token, and perhaps a requested token.
    assert.isAtLeast(yield* witness.check, 5)
    assert.isTrue(witness.spans.some((span) => span.name === "Assemblies.list"))
  })

  it.effect(
    "of an operation that the emulator accepts or refuses",
    Emulator.layer({ credentials, tokenLifetime: 0 }),
    function* () {
      const witness = Witness.make({ key, secret })
      const { baseUrl } = yield* Emulator.Emulator
      yield* failAll(witness, baseUrl)
      assert.isAtLeast(yield* witness.check, 6)
    }
  )

  it.effect("of a public value or error of the package", function* () {
    const witness = Witness.make({ key, secret })
    const baseUrl = yield* Witness.echo((sent, response) => {
      response.writeHead(200)
      response.end(JSON.stringify({ access_token: "a-minted-token-77f0", expires_in: 60, scope: sent }))
    })
    witness.protectToken("a-minted-token-77f0")
    const url = SecureUrl.make(baseUrl)
    const store = KeyValueTokenStore.layer.pipe(Layer.provide([known, KeyValueStore.layerMemory]))

    yield* Effect.gen(function* () {
      const layers = [known, tokens, store, ...Object.values(authenticators), Credentials.layer(credentials)]
      for (const layer of layers) yield* witness.look(layer)

      const context: Context.Context<
        Credentials.Credentials | Signer.Signer | Tokens.Tokens | Webhook.Webhook | Authenticator.Authenticator
      > = yield* Layer.build(
        Layer.mergeAll(known, tokens, Signer.layerHmac().pipe(Layer.provide(known)), authenticators.tokens).pipe(
          Layer.provideMerge(Webhook.layer().pipe(Layer.provide(known)))
        )
      )
      yield* witness.look(context)

      for (const method of methods) {
        const proof = yield* Authenticator.Authenticator.use((service) =>
          service.authenticate({ baseUrl: url, params: {}, nonceIn: "params", scope: "dam:write" })
        ).pipe(Effect.provide(authenticators[method]))
        witness.protect(proof)
        yield* witness.look(proof)
      }

      yield* Effect.gen(function* () {
        yield* witness.look(yield* Credentials.Credentials)
        const signature = yield* Signer.Signer.use((signer) => signer.sign("text"))
        witness.protect({ _tag: "Signature", params: "", signature })
        yield* witness.look(signature)
        yield* witness.look(yield* Tokens.Tokens.use((service) => service.get({ baseUrl: url })))
        const notification = { transloadit: "{}", signature: Redacted.value(signature) }
        yield* witness.look(yield* Effect.flip(Webhook.verify(notification)))
        const signed = { transloadit: "text", signature: Redacted.value(signature) }
        yield* witness.look(yield* Effect.flip(Webhook.verify(signed)))
      }).pipe(Effect.provideContext(context))

      const refusal = { code: "CODE", status: 400 }
      const errors: ReadonlyArray<AuthError.AuthError> = [
        new AuthError.WrongCredentials(refusal),
        new AuthError.ScopeNotGranted({ ...refusal, scopes: ["dam:write"] }),
        new AuthError.AudienceRefused(refusal),
        new AuthError.TokenRefused(refusal),
        new AuthError.TokenRateLimited({ ...refusal, retryAfter: Duration.seconds(1) }),
        new AuthError.TokenUnavailable({ description: "the connection failed" }),
        new AuthError.UnexpectedTokenResponse({ status: 200, description: "a body that is not JSON" })
      ]
      for (const error of errors) yield* witness.look(error)
    }).pipe(Effect.provide(witness.observe))

    assert.isAtLeast(yield* witness.check, 6)
  })
})
