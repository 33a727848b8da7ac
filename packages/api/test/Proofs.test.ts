/**
 * The interpreter with a failing Authenticator, and with a refused proof.
 */
import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import { Authenticator, AuthError } from "@assembly-effect/auth"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { DateTime, Duration, Effect, Layer, Redacted, Schedule } from "effect"
import * as FakeService from "./utils/FakeService.ts"
import { assemblyId } from "./utils/operations.ts"

const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })
const create = Assemblies.create({ assemblyId })

const clientOf = (
  service: ReturnType<typeof FakeService.make>,
  authenticator: Authenticator.Authenticator["Service"],
  policy: Layer.Layer<never> = RetryPolicy.layerNone
) =>
  AssemblyClient.layer({ baseUrl: "https://api2.example.com/v2/" }).pipe(
    Layer.provide([Layer.succeed(Authenticator.Authenticator, authenticator), service.layer, policy])
  )

const refusal = { code: "CODE", status: 400 }

const failed = { _tag: "AuthenticationFailed", assemblyId }
const wrong = { code: "TOKEN_INVALID_CREDENTIALS", status: 401 }
const busy = { code: "RATE_LIMIT_REACHED", status: 429, retryAfter: Duration.seconds(7) }
const down = { description: "the connection failed" }
const odd = { status: 200, description: "a body that is not UTF-8" }
const about = { operation: "Assemblies.create", assemblyId }
const unreadable = { ...about, status: 200, description: "no token, a body that is not UTF-8", excerpt: "" }

const failures: ReadonlyArray<readonly [error: AuthError.AuthError, expected: object]> = [
  [new AuthError.WrongCredentials(wrong), { ...failed, ...wrong }],
  [new AuthError.ScopeNotGranted({ ...refusal, scopes: ["assemblies:write"] }), { ...failed, ...refusal }],
  [new AuthError.AudienceRefused(refusal), { ...failed, ...refusal }],
  [new AuthError.TokenRefused(refusal), { ...failed, ...refusal }],
  [new AuthError.TokenRateLimited(busy), { _tag: "RateLimited", assemblyId, ...busy }],
  [
    new AuthError.TokenUnavailable(down),
    { _tag: "TransportFailure", ...about, description: "No token: the connection failed" }
  ],
  [new AuthError.UnexpectedTokenResponse(odd), { _tag: "UnexpectedResponse", ...unreadable }]
]

describe("Without a proof", () => {
  it.effect.each(failures)("fails after %s, and sends nothing", function* ([error, expected]) {
    const service = FakeService.make(FakeService.json(200, {}))
    const client = clientOf(service, { authenticate: () => Effect.fail(error), refused: () => Effect.succeed("retry") })
    yield* Effect.flip(list).pipe(Effect.provide(client))
    assert.isEmpty(service.requests)
    const failure: object = yield* Effect.flip(create).pipe(Effect.provide(client))
    for (const [name, value] of Object.entries(expected)) {
      assert.deepStrictEqual(Reflect.get(failure, name), value, name)
    }
  })
})

/** Returns `token-1`, `token-2`, … and the same verdict for every refusal. */
const counting = (verdict: "retry" | "final") => {
  const asked: Array<Parameters<Authenticator.Authenticator["Service"]["authenticate"]>[0]> = []
  const refused: Array<readonly [token: string, code: string | undefined, status: number]> = []
  const authenticator: Authenticator.Authenticator["Service"] = {
    authenticate: (request) =>
      Effect.sync(() => {
        asked.push(request)
        return { _tag: "Bearer", params: "{}", token: Redacted.make(`token-${asked.length}`) }
      }),
    refused: (proof, { code, status }) =>
      Effect.sync(() => {
        refused.push([proof._tag === "Bearer" ? Redacted.value(proof.token) : "", code, status])
        return verdict
      })
  }
  return { asked, refused, authenticator }
}

const empty = FakeService.json(200, { items: [], count: 0 })
const expired = FakeService.json(400, { error: "BEARER_TOKEN_EXPIRED" })

describe("A proof that is refused", () => {
  it.effect.each([
    ["a code", expired, "BEARER_TOKEN_EXPIRED", 400],
    ["a 401 with any code", FakeService.json(401, { error: "SERVER_401" }), "SERVER_401", 401],
    ["a 401 of a page", FakeService.text(401, "<html>"), undefined, 401]
  ] as const)("a proof that is refused by %s is replaced", function* ([, answer, code, status]) {
    const { asked, authenticator, refused } = counting("retry")
    const service = FakeService.make(answer, empty)
    yield* list.pipe(Effect.provide(clientOf(service, authenticator)))
    assert.strictEqual(asked.length, 2)
    assert.deepStrictEqual(refused, [["token-1", code, status]])
  })

  it.effect.each([
    ["two requests if the second proof is refused too", "retry", 2],
    ["one request if refused returns `final`", "final", 1]
  ] as const)("fails with AuthenticationFailed after %s", function* ([, verdict, requests]) {
    const { asked, authenticator, refused } = counting(verdict)
    const service = FakeService.make(expired)
    const error = yield* Effect.flip(list).pipe(Effect.provide(clientOf(service, authenticator)))
    assert.strictEqual(error._tag, "AuthenticationFailed")
    assert.deepStrictEqual([service.requests.length, asked.length, refused.length], [requests, requests, 1])
  })

  it.effect(
    "is replaced once in each attempt: of four requests, the second after a 503 gets the third proof",
    function* () {
      const { authenticator, refused } = counting("retry")
      const service = FakeService.make(expired, FakeService.text(503, "<html>"), expired, empty)
      const twice = Layer.succeed(RetryPolicy.RetryPolicy, Schedule.recurs(1))
      yield* list.pipe(Effect.provide(clientOf(service, authenticator, twice)))
      assert.deepStrictEqual(
        refused.map(([token]) => token),
        ["token-1", "token-3"]
      )
    }
  )

  it.effect.each([
    ["an error of the operation", FakeService.json(400, { error: "ASSEMBLY_LIST_ERROR" })],
    ["a 403 of another code", FakeService.json(403, { error: "SERVER_403" })],
    ["a rate limit", FakeService.json(429, { error: "RATE_LIMIT_REACHED" })],
    ["a 502 of a page", FakeService.text(502, "<html>")],
    ["a lost response", FakeService.lost]
  ] as const)("%s does not count as a refused proof, and is not retried", function* ([, answer]) {
    const { authenticator, refused } = counting("retry")
    const service = FakeService.make(answer)
    yield* Effect.flip(list).pipe(Effect.provide(clientOf(service, authenticator)))
    assert.isEmpty(refused)
    assert.strictEqual(service.requests.length, 1)
  })

  it.effect("authenticate gets the checked base URL, the scope and nonceIn of the operation", function* () {
    const { asked, authenticator } = counting("final")
    yield* list.pipe(Effect.provide(clientOf(FakeService.make(empty), authenticator)))
    const [{ baseUrl, nonceIn, scope } = {}] = asked
    const seen = [String(baseUrl), nonceIn, scope]
    assert.deepStrictEqual(seen, ["https://api2.example.com/v2", "auth", "assemblies:read"])
  })
})
