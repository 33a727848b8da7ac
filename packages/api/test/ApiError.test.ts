/**
 * The messages of errors: what happened, to what, and what to do next.
 */
import { ApiError, Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import { Authenticator, AuthError } from "@assembly-effect/auth"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { DateTime, Duration, Effect, Layer, Schema } from "effect"
import * as Service from "./utils/FakeService.ts"
import { assemblyId } from "./utils/operations.ts"

const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })

const failure = <A, E>(effect: Effect.Effect<A, E, AssemblyClient.AssemblyClient>, line: Service.Line) =>
  Effect.flip(effect).pipe(
    Effect.provide(Service.client(Service.make(line)).pipe(Layer.provide(RetryPolicy.layerNone)))
  )

const answer = { operation: "Assemblies.list", code: "CODE", status: 400, description: "words" }
const { code, ...named } = answer

describe("the message of an error", () => {
  const operation = "Assemblies.list"
  const refused = { code: "ECONNREFUSED", description: "the connection was refused" }
  const { ServiceFailure, RateLimited, AuthenticationFailed, TransportFailure, TimedOut } = ApiError

  test.each<readonly [Error, string]>([
    [new ServiceFailure(answer), "Assemblies.list failed with CODE, status 400: words"],
    [new ServiceFailure(named), "Assemblies.list failed with status 400: words"],
    [new ServiceFailure({ ...answer, description: "CODE" }), "Assemblies.list failed with CODE, status 400"],
    [
      new RateLimited({ ...answer, status: 429, retryAfter: Duration.seconds(20) }),
      "Assemblies.list: too many requests (CODE, status 429: words); try again in 20 s"
    ],
    [
      new RateLimited({ ...answer, status: 429, retryAfter: Duration.zero }),
      "Assemblies.list: too many requests (CODE, status 429: words); try again in a while"
    ],
    [
      new AuthenticationFailed({ ...answer, code: "INVALID_SIGNATURE" }),
      "Assemblies.list: authentication failed (INVALID_SIGNATURE, status 400: words); check the secret of the Auth Key"
    ],
    [
      new AuthenticationFailed({ ...answer, clockSkew: -7_200_000 }),
      "Assemblies.list: authentication failed (CODE, status 400: words); the clock of the service is 7200 s behind the local clock"
    ],
    [
      new TransportFailure({ operation, host: "a.example.com", ...refused }),
      "Assemblies.list: the connection was refused (a.example.com, ECONNREFUSED)"
    ],
    [
      new TimedOut({ operation, host: "a.example.com", after: Duration.minutes(1) }),
      "Assemblies.list: no response from a.example.com after 60 s"
    ],
    [
      new ApiError.AssemblyFailed({ assemblyId, code: "INPUT_FILE_UNREADABLE", description: "not an image" }),
      "Assembly 012345… failed with INPUT_FILE_UNREADABLE: not an image"
    ],
    [
      new ApiError.AssemblyCanceled({ assemblyId, code: "ASSEMBLY_CANCELED", description: "ASSEMBLY_CANCELED" }),
      "Assembly 012345… was canceled with ASSEMBLY_CANCELED"
    ]
  ])("has the message of its fields: %s", (error, message) => assert.strictEqual(error.message, message))

  it.effect("an invalid body has a path in the message only if a field breaks the rule", function* () {
    const whole = yield* failure(list, Service.json(200, "text"))
    assert.match(whole.message, /^Assemblies\.list: status 200, an invalid body: Expected /)
    const within = yield* failure(Assemblies.get(assemblyId), Service.json(200, { assembly_id: assemblyId, ok: 1 }))
    assert.match(within.message, /^Assemblies\.get: status 200, an invalid body at ok: Expected /)
  })
})

const none = { throttled: false, authentication: false, network: false, service: false }

const requested = { request: "append", host: "tus.example.com" } as const

describe("match", () => {
  it.effect("takes the case of the tag, then of the kind, then the rest", function* () {
    const folded = (error: ApiError.StatisticsInvalidTime | ApiError.Common) =>
      Effect.flip(
        Effect.mapError(
          Effect.fail(error),
          ApiError.match({
            StatisticsInvalidTime: ({ status }) => `named ${status}`,
            TransportFailure: () => "the tag before the kind",
            throttled: ({ retryAfter }) => Duration.toSeconds(retryAfter),
            network: () => "network" as const,
            otherwise: ({ _tag }) => _tag
          })
        )
      )
    const subject = { operation: "Assemblies.list" }
    const sent = { sent: "no", description: "", ...subject } as const
    for (const [error, expected] of [
      [new ApiError.StatisticsInvalidTime(answer), "named 400"],
      [new ApiError.TransportFailure(sent), "the tag before the kind"],
      [new ApiError.TimedOut({ ...subject, after: Duration.seconds(1) }), "network"],
      [new ApiError.RateLimited({ ...answer, retryAfter: Duration.seconds(20) }), 20],
      [new ApiError.ServiceFailure(answer), "ServiceFailure"]
    ] as const) {
      assert.strictEqual(yield* folded(error), expected)
    }
  })
})

describe("isThrottled, isAuthentication, isNetwork and isService", () => {
  test.each<[unknown, Partial<typeof none>]>([
    [new ApiError.RateLimited({ ...named, retryAfter: Duration.zero }), { throttled: true }],
    [new AuthError.TokenRateLimited({ retryAfter: Duration.zero }), { throttled: true }],
    [new ApiError.AuthenticationFailed({ ...answer, status: 503 }), { authentication: true }],
    [new AuthError.WrongCredentials({ status: 401 }), { authentication: true }],
    [new AuthError.ScopeNotGranted({ status: 403, scopes: [] }), { authentication: true }],
    [new AuthError.AudienceRefused({ status: 400 }), { authentication: true }],
    [new AuthError.TokenRefused({ code, status: 400 }), { authentication: true }],
    [new AuthError.TokenRefused({ code, status: 404 }), {}],
    [new AuthError.TokenRefused({ code, status: 407 }), { network: true }],
    [new AuthError.TokenUnavailable({ description: "no response" }), { network: true }],
    [new AuthError.TokenUnavailable({ description: "failed", status: 500 }), { service: true }],
    [new ApiError.TransportFailure({ operation: "Assemblies.list", description: "refused" }), { network: true }],
    [new ApiError.TimedOut({ operation: "Assemblies.list", after: Duration.minutes(1) }), { network: true }],
    [new ApiError.ServiceFailure({ ...answer, status: 502 }), { network: true }],
    [new ApiError.ServiceFailure({ ...answer, status: 500 }), { service: true }],
    [new ApiError.StatisticsUnavailable({ ...answer, status: 500 }), { service: true }],
    [new ApiError.UnexpectedResponse({ ...named, status: 200, description: "", excerpt: "" }), { service: true }],
    [new ApiError.ServiceFailure(answer), {}],
    [{ ...requested, _tag: "Stalled" }, { network: true }],
    [{ ...requested, _tag: "CreationUnknown" }, { network: true }],
    [{ ...requested, _tag: "ProtocolViolation", status: 204 }, { service: true }],
    [{ ...requested, _tag: "ServerFailure", status: 500 }, { service: true }],
    [{ ...requested, _tag: "ServerFailure", status: 503 }, { network: true }],
    [{ ...requested, _tag: "UploadRefused", status: 403 }, {}],
    [{ _tag: "toString" }, {}],
    [new Error("not of this library"), {}],
    [undefined, {}]
  ])("the predicates classify %s as %j", (error, kind) => {
    const kinds = { ...none, ...kind }
    assert.strictEqual(ApiError.isThrottled(error), kinds.throttled)
    assert.strictEqual(ApiError.isAuthentication(error), kinds.authentication)
    assert.strictEqual(ApiError.isNetwork(error), kinds.network)
    assert.strictEqual(ApiError.isService(error), kinds.service)
  })
})

describe("the fields of an error", () => {
  it.effect("an error of a response has its operation, host, code, status, reason and requestId", function* () {
    const body = { error: "CODE", message: "words", reason: { why: 1 } }
    const error = yield* failure(list, Service.json(400, body, { "x-request-id": "req-\u00071" }))
    const rest = { host: "api2.example.com", reason: { why: 1 }, requestId: "req-\\x071" }
    assert.deepInclude(error, { _tag: "ServiceFailure", ...answer, ...rest })
    const limited = yield* failure(list, Service.text(429, ""))
    assert.deepInclude(limited, { _tag: "RateLimited", retryAfter: Duration.zero })
    const odd = yield* failure(list, Service.text(200, "<html>", { "x-request-id": "req-2" }))
    assert.deepInclude(odd, { _tag: "UnexpectedResponse", host: "api2.example.com", requestId: "req-2" })
  })

  it.effect("an error of a request to a capability has its host, and no other part of it", function* () {
    const url = `https://api2-secret.example.com/assemblies/${assemblyId}`
    const origins = ["https://api2-*.example.com"]
    let requests = 0
    const service = Service.make((request, at) =>
      ++requests === 1
        ? Service.json(200, { ok: "ASSEMBLY_EXECUTING", assembly_id: assemblyId, assembly_ssl_url: url })(request, at)
        : Service.json(418, { error: "TEAPOT" })(request, at)
    )
    const error = yield* Effect.flip(Assemblies.cancel(assemblyId)).pipe(
      Effect.provide(Service.client(service, { origins }).pipe(Layer.provide(RetryPolicy.layerNone)))
    )
    assert.strictEqual("host" in error ? error.host : undefined, "api2-secret.example.com")
    assert.notInclude(error.message, "/assemblies/")
  })

  it.effect("AuthenticationFailed has the error of the token request as its cause", function* () {
    const cause = new AuthError.WrongCredentials({ code: "TOKEN_INVALID_CREDENTIALS", status: 401 })
    const authenticator = { authenticate: () => Effect.fail(cause), refused: () => Effect.succeed("final" as const) }
    const client = AssemblyClient.layer({ baseUrl: "https://api2.example.com" }).pipe(
      Layer.provide([Layer.succeed(Authenticator.Authenticator, authenticator), Service.make().layer]),
      Layer.orDie
    )
    const error = yield* Effect.flip(Effect.provide(list, client))
    assert(error._tag === "AuthenticationFailed")
    assert.strictEqual(error.cause, cause)
    const message = "The Auth Key or the Auth Secret is wrong (status 401, TOKEN_INVALID_CREDENTIALS)"
    assert.strictEqual(error.message, `Assemblies.list: ${message}`)
    assert.strictEqual(error.host, "api2.example.com")
  })

  it.effect("AuthenticationFailed encodes to JSON with its fields, and decodes with the same message", function* () {
    const codec = Schema.toCodecJson(ApiError.AuthenticationFailed)
    const cause = new AuthError.WrongCredentials({ code: "TOKEN_INVALID_CREDENTIALS", status: 401 })
    const error = new ApiError.AuthenticationFailed({ ...answer, host: "api2.example.com", cause })
    const json = yield* Schema.encodeEffect(codec)(error)
    assert.deepInclude(json, { ...answer, host: "api2.example.com" })
    const decoded = yield* Schema.decodeUnknownEffect(codec)(json)
    assert.strictEqual(decoded.message, error.message)
  })
})
