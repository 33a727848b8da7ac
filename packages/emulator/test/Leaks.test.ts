/**
 * What a program logs of a failed operation has no Auth Secret, token or signature, even if the server repeats the
 * request in its response. `scripts/walk`, which runs with every test, searches the logs, spans and errors for them.
 */
import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import { Authenticator, Credentials, Tokens } from "@assembly-effect/auth"
import { Emulator } from "@assembly-effect/emulator"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { Cause, DateTime, Effect, Exit, Layer, Redacted, type Scope } from "effect"
import { FetchHttpClient } from "effect/http"
import type { ServerResponse } from "node:http"
import { inspect } from "node:util"
import { assert, describe, it } from "@assembly-effect/testkit/flow"

const credentials = { key: "leak-test-key", secret: Redacted.make("3f9d7c0b1e5a48a2") }

const http = FetchHttpClient.layer
const known = Credentials.layer(credentials)
const authenticators = {
  signed: Authenticator.layerSigned().pipe(Layer.provide(known)),
  bearer: Authenticator.layerBearer(Redacted.make("a-bearer-token-9d41")),
  tokens: Tokens.layerAuthenticator.pipe(Layer.provide(Tokens.layer().pipe(Layer.provide([known, http]), Layer.fresh)))
}

const operations: ReadonlyArray<Effect.Effect<unknown, unknown, AssemblyClient.AssemblyClient>> = [
  Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }),
  Assemblies.create({})
]

/** Logs all that a program may print of a value. */
const look = (value: unknown) => Effect.logError(value, inspect(value, { depth: Infinity, showHidden: true }))

/** Runs every operation with every authenticator, and logs how each ends. Returns the number of failures. */
const failAll = Effect.fnUntraced(function* (baseUrl: string) {
  let failures = 0
  for (const authenticator of Object.values(authenticators)) {
    const client = AssemblyClient.layer({ baseUrl }).pipe(Layer.provide([authenticator, http, RetryPolicy.layerNone]))
    for (const operation of operations) {
      const exit = yield* Effect.exit(Effect.provide(operation, client))
      yield* look(exit)
      if (Exit.isSuccess(exit)) continue
      failures++
      yield* look(Cause.squash(exit.cause))
      yield* look(Cause.pretty(exit.cause))
    }
  }
  return failures
})

/** A server that gives each request as text to `answer`, which repeats the request in the response. */
const echo = (answer: (sent: string, response: ServerResponse, url: string) => void) =>
  Loopback.serve(async (request, response) => {
    let body = ""
    for await (const chunk of request) body += String(chunk)
    const url = request.url ?? ""
    answer(`${decodeURIComponent(url)} ${JSON.stringify(request.headers)} ${body}`, response, url)
  })

const servers: Readonly<Record<string, Effect.Effect<string, never, Scope.Scope>>> = {
  "an error object": echo((sent, response) => {
    response.writeHead(400)
    response.end(JSON.stringify({ error: "INVALID_SIGNATURE", message: sent, reason: { sent }, assembly_id: sent }))
  }),
  "an error code": echo((sent, response) => {
    response.writeHead(403)
    response.end(JSON.stringify({ error: sent, http_code: 403 }))
  }),
  "a 401 that repeats all": echo((sent, response) => {
    response.writeHead(401)
    response.end(JSON.stringify({ error: "BEARER_TOKEN_EXPIRED", message: sent }))
  }),
  "an error page": echo((sent, response) => {
    response.writeHead(502, { "content-type": "text/html" })
    response.end(`<html>${sent}</html>`)
  }),
  "a page of success": echo((sent, response) => {
    response.writeHead(200)
    response.end(sent)
  }),
  "a body that is not UTF-8": echo((sent, response) => {
    response.writeHead(200)
    response.end(Buffer.concat([Buffer.from(sent), Buffer.from([0xff])]))
  }),
  "a redirect": echo((sent, response) => {
    response.writeHead(302, { location: `https://elsewhere.example/?sent=${encodeURIComponent(sent)}` })
    response.end(sent)
  }),
  "a cut connection": echo((_, response) => void response.destroy()),
  "a token, and then errors": echo((sent, response, url) => {
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
    assert.strictEqual(yield* failAll(yield* servers[name] ?? Effect.die("no such server")), 6)
  })

  it.effect("of an operation, accepted or refused", Emulator.layer({ credentials, tokenLifetime: 0 }), function* () {
    const { baseUrl } = yield* Emulator.Emulator
    assert.strictEqual(yield* failAll(baseUrl), 4)
  })
})
