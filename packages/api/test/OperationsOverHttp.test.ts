import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Undici from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import { credentials } from "./utils/FakeService.ts"
import type { AnyError, Case } from "./utils/operations.ts"
import { assemblyId, cases, examples, operations } from "./utils/operations.ts"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

const clients: Readonly<Record<string, Layer.Layer<HttpClient>>> = {
  fetch: FetchHttpClient.layer,
  undici: Undici.layerUndici,
  "node:http": Undici.layerNodeHttp
}

const authenticated = Authenticator.layerSigned().pipe(Layer.provide(credentials))

it("the cases contain every operation", () => {
  assert.deepStrictEqual(cases.map(({ name }) => name).toSorted(), operations.map(({ name }) => name).toSorted())
})

for (const [client, layer] of Object.entries(clients)) {
  describe(`with ${client}`, () => {
    // The clients share what is above them, so five operations show each of the others.
    for (const operation of client === "fetch" ? cases : examples)
      describe(operation.name, () => suite(operation, layer))
  })
}

function suite(operation: Case, http: Layer.Layer<HttpClient>) {
  /** Runs the operation once, without retries, against a server with one response. */
  const against = <A, E>(
    answer: Server.Answer,
    use: (run: Effect.Effect<unknown, AnyError>, server: Server.HostileServer) => Effect.Effect<A, E>,
    options?: Omit<AssemblyClient.Options, "baseUrl">
  ) =>
    Effect.gen(function* () {
      const server = yield* Server.make
      server.script(answer)
      const context = yield* Layer.build(
        AssemblyClient.layer({ baseUrl: server.baseUrl, ...options }).pipe(
          Layer.provide([authenticated, http, RetryPolicy.layerNone]),
          Layer.orDie
        )
      )
      return yield* use(Effect.provideContext(operation.run, context), server)
    }).pipe(Effect.scoped)

  const failure = (answer: Server.Answer, options?: Omit<AssemblyClient.Options, "baseUrl">) =>
    against(answer, (run) => Effect.flip(run), options)

  it.live("sends the request of the specification, and decodes the response (spec O-2)", () =>
    against(Server.json(200, operation.success), (run, server) =>
      Effect.gen(function* () {
        yield* run
        const [request] = server.received
        assert.strictEqual(request?.method, operation.method)
        assert.strictEqual(request?.path, operation.path)
        assert.strictEqual(request?.headers.accept, "application/json")
        const sent = operation.method === "GET" ? request?.query.toString() : request?.body
        assert.strictEqual(sent?.includes("sha384"), operation.signed)
        assert.strictEqual(request?.headers.traceparent, undefined)
      })
    )
  )

  it.live("decodes JSON that comes as text/plain; charset=utf-8, in chunks, and with another 2xx (spec O-1)", () =>
    Effect.gen(function* () {
      const json = JSON.stringify(operation.success)
      const plain = yield* against(
        Server.text(200, json, { "content-type": "text/plain; charset=utf-8" }),
        (run) => run
      )
      const accepted = yield* against(Server.json(202, operation.success), (run) => run)
      assert.deepStrictEqual(yield* against(Server.chunked(200, json), (run) => run), plain)
      assert.deepStrictEqual(accepted, plain)
    })
  )

  for (const [code, status, tag] of operation.named) {
    it.live(`${code} fails with ${tag}, with status ${status}, 418 as text/plain, or 200`, () =>
      Effect.gen(function* () {
        const body = { error: code, http_code: status, message: "words", reason: { why: 1 } }
        const error = yield* failure(Server.json(status, body))
        assert.deepInclude(error, { _tag: tag, code, status, description: "words", reason: { why: 1 } })
        const plain = Server.text(418, JSON.stringify(body), { "content-type": "text/plain; charset=utf-8" })
        assert.deepInclude(yield* failure(plain), { _tag: tag, status: 418 })
        assert.deepInclude(yield* failure(Server.json(200, body)), { _tag: tag, status: 200 })
      })
    )
  }

  it.live("the general error object fails with ServiceFailure and its fields", () =>
    Effect.gen(function* () {
      const body = { error: "SERVER_403", http_code: "403", message: "words", reason: ["a"], extra: true }
      const error = yield* failure(Server.json(403, body))
      assert.deepInclude(error, { _tag: "ServiceFailure", code: "SERVER_403", status: 403, reason: ["a"] })
      const only = yield* failure(Server.json(500, { reason: null }))
      assert.deepInclude(only, { _tag: "ServiceFailure", status: 500, reason: null })
      assert.notProperty(only, "code")
    })
  )

  it.live("an authentication code fails with AuthenticationFailed if signed, else with ServiceFailure", () =>
    Effect.gen(function* () {
      for (const code of ["INVALID_SIGNATURE", "INSUFFICIENT_AUTH_SCOPE"]) {
        const error = yield* failure(Server.json(400, { error: code, message: "no" }))
        assert.deepInclude(error, { _tag: operation.signed ? "AuthenticationFailed" : "ServiceFailure", code })
      }
    })
  )

  it.live("429 fails with RateLimited and the pause of retryIn, of Retry-After in both forms, or none", () =>
    Effect.gen(function* () {
      const body = { error: "RATE_LIMIT_REACHED", http_code: 429 }
      const date = "Sat, 21 Nov 2026 05:00:00 GMT"
      const later = "Sat, 21 Nov 2026 05:00:07 GMT"
      const waits: ReadonlyArray<readonly [Server.Answer, number]> = [
        [Server.json(429, { ...body, info: { retryIn: 3.5 } }), 3500],
        [Server.json(413, { ...body, info: { retryIn: 0 } }), 0],
        [Server.json(429, body, { "retry-after": "5" }), 5000],
        [Server.json(429, body, { "retry-after": later, date }), 7000],
        [Server.json(429, { ...body, info: { retryIn: 9 } }, { "retry-after": "5" }), 9000],
        [Server.text(429, "<html>slow down</html>", { "retry-after": "2" }), 2000],
        [Server.json(429, body), 0]
      ]
      for (const [answer, millis] of waits) {
        const error = yield* failure(answer)
        assert.strictEqual(error._tag, "RateLimited")
        assert.deepInclude(JSON.parse(JSON.stringify(error)), {
          retryAfter: { _id: "Duration", _tag: "Millis", millis }
        })
      }
    })
  )

  it.live("an undecodable response fails with UnexpectedResponse and a short excerpt", () =>
    Effect.gen(function* () {
      const page = `<html>${"x".repeat(5000)}</html>`
      const answers: Readonly<Record<string, Server.Answer>> = {
        "an HTML page": Server.text(502, page, { "content-type": "text/html" }),
        "truncated JSON": Server.text(200, JSON.stringify(operation.success).slice(0, -1)),
        "JSON of another shape": Server.json(200, { ok: 1 }),
        "an array under an error": Server.json(400, [1]),
        "no body": Server.text(200, ""),
        "no content": (_, response) => response.writeHead(204).end(),
        "bytes that are not UTF-8": Server.text(200, new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]))
      }
      for (const [name, answer] of Object.entries(answers)) {
        const error = yield* failure(answer)
        assert.strictEqual(error._tag, "UnexpectedResponse", name)
        assert.isAtMost(JSON.stringify(error).length, 1000, name)
      }
    })
  )

  it.live("a redirect fails with UnexpectedResponse, and sends nothing to its Location", () =>
    Effect.gen(function* () {
      const catcher = yield* Server.make
      for (const status of [301, 302, 303, 307, 308]) {
        const error = yield* failure(Server.text(status, "", { location: `${catcher.baseUrl}/catch` }))
        assert.deepInclude(error, { _tag: "UnexpectedResponse", status })
        // Whatever the response contains: a server that redirects is not the requested service.
        const limited = yield* failure(
          Server.json(status, { error: "RATE_LIMIT_REACHED" }, { location: `${catcher.baseUrl}/catch` })
        )
        assert.deepInclude(limited, { _tag: "UnexpectedResponse", status })
      }
      assert.strictEqual(catcher.received.length, 0)
    }).pipe(Effect.scoped)
  )

  it.live("a body over maxResponseBytes fails with UnexpectedResponse, with and without Content-Length", () =>
    Effect.gen(function* () {
      const options = { maxResponseBytes: 100_000 }
      for (const answer of [Server.endless(200), Server.endless(502), Server.text(200, "x".repeat(100_001))]) {
        const error = yield* failure(answer, options)
        assert.strictEqual(error._tag, "UnexpectedResponse")
        assert.include(error.message, "more than 100000 bytes")
      }
    })
  )

  it.live("fails with TimedOut if no response, or half a response, comes within requestTimeout", () =>
    Effect.gen(function* () {
      for (const answer of [Server.silence, Server.stall(200)]) {
        assert.strictEqual((yield* failure(answer, { requestTimeout: "50 millis" }))._tag, "TimedOut")
      }
    })
  )

  it.live("fails with TransportFailure if the connection is cut before or in the middle of the body", () =>
    Effect.gen(function* () {
      for (const answer of [Server.reset, Server.cut(200, JSON.stringify(operation.success))]) {
        assert.strictEqual((yield* failure(answer))._tag, "TransportFailure")
      }
    })
  )

  it.live("an error contains the Assembly, and never a signature that the response repeats", () =>
    Effect.gen(function* () {
      const echo: Server.Answer = (request, response) => {
        const sent = decodeURIComponent(`${request.query.toString()}${request.body}`)
        const signature = /sha384:[0-9a-f]{96}/.exec(sent)?.[0] ?? ""
        response.writeHead(400).end(JSON.stringify({ error: "X", message: signature, reason: { sent: signature } }))
      }
      const page: Server.Answer = (request, response) => {
        response.writeHead(502).end(`<p>${request.query.toString()}${request.body.slice(-500)}</p>`)
      }
      for (const answer of [echo, page]) {
        const error = yield* failure(answer)
        assert.notMatch(JSON.stringify(error) + error.message, /[0-9a-f]{96}/)
        if (operation.path.includes(assemblyId)) assert.strictEqual(error.assemblyId, assemblyId)
      }
    })
  )
}
