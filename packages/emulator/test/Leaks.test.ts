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

/** A server that repeats each request, as text, in its response. */
const echo = (
  status: number,
  body: (sent: string, url: string) => string | Uint8Array,
  headers: (sent: string) => Readonly<Record<string, string>> = () => ({})
) =>
  Loopback.serve(async (request, response) => {
    let received = ""
    for await (const chunk of request) received += String(chunk)
    const url = request.url ?? ""
    const sent = `${decodeURIComponent(url)} ${JSON.stringify(request.headers)} ${received}`
    response.writeHead(status, headers(sent)).end(body(sent, url))
  })

const error = (fields: object) => JSON.stringify(fields)
const elsewhere = (sent: string) => ({ location: `https://elsewhere.example/?sent=${encodeURIComponent(sent)}` })

const servers: Readonly<Record<string, Effect.Effect<string, never, Scope.Scope>>> = {
  "an error object": echo(400, (sent) =>
    error({ error: "INVALID_SIGNATURE", message: sent, reason: { sent }, assembly_id: sent })
  ),
  "an error code": echo(403, (sent) => error({ error: sent, http_code: 403 })),
  "a 401 that repeats all": echo(401, (sent) => error({ error: "BEARER_TOKEN_EXPIRED", message: sent })),
  "an error page": echo(
    502,
    (sent) => `<html>${sent}</html>`,
    () => ({ "content-type": "text/html" })
  ),
  "a page of success": echo(200, (sent) => sent),
  "a body that is not UTF-8": echo(200, (sent) => Buffer.concat([Buffer.from(sent), Buffer.from([0xff])])),
  "a redirect": echo(302, (sent) => sent, elsewhere),
  "a cut connection": Loopback.serve((_, response) => response.destroy()),
  "a token, and then errors": echo(200, (sent, url) =>
    url === "/token"
      ? error({ access_token: "a-minted-token-77f0", scope: sent })
      : error({ error: "BEARER_TOKEN_INVALID", message: sent, reason: sent })
  )
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
