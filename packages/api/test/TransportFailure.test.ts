/**
 * The fields of a `TransportFailure`, and which requests are repeated after it.
 */
import { type ApiError, Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as Exchange from "@assembly-effect/api/unstable/Exchange"
import { Authenticator, AuthError } from "@assembly-effect/auth"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Duration, Effect, Layer, Redacted, type Scope, Stream } from "effect"
import { HttpBody, HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import type { LookupFunction } from "node:net"
import { createServer as createTcpServer } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { runInNewContext } from "node:vm"
import { senders } from "./utils/clients.ts"
import * as FakeService from "./utils/FakeService.ts"
import { assemblyId, cases } from "./utils/operations.ts"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"
import * as SelfSigned from "./utils/selfSigned.ts"

const facts = ({ code, permanent, description, sent }: ApiError.TransportFailure) =>
  ({ code, description, sent, permanent }) as const
const refuses = (description: string, code: string) => ({ code, description, sent: "no", permanent: true }) as const
const fails = (description: string, code: string) => ({ ...refuses(description, code), permanent: false })

const post = (url: string, body: HttpBody.HttpBody = HttpBody.text("hello")) => HttpClientRequest.post(url, { body })

const send = (request: HttpClientRequest.HttpClientRequest) =>
  Effect.flatMap(HttpClient.HttpClient, (client) => Exchange.open(client, request, { operation: "Test" })).pipe(
    Effect.scoped
  )

const fail = (request: HttpClientRequest.HttpClientRequest) => Effect.flip(send(request))

const failWith = (reason: HttpClientError.HttpClientErrorReason) =>
  Effect.fail(new HttpClientError.HttpClientError({ reason }))

/** A port that nobody listens on. */
const closedPort = Effect.scoped(Loopback.listen(createTcpServer()))

const tls = () => createTlsServer({ key: SelfSigned.key, cert: SelfSigned.cert })

const refused = fails("the connection was refused", "ECONNREFUSED")
const untrusted = refuses("the certificate of the server is not trusted", "DEPTH_ZERO_SELF_SIGNED_CERT")
const unknown = refuses("the host is unknown", "ENOTFOUND")
const noResolution = fails("the name resolution of the host failed temporarily", "EAI_AGAIN")

describe.each(senders)("with %s", (name, layer) => {
  const garbage = () => createTcpServer((socket) => socket.on("data", () => socket.end("hello there\r\n\r\n")))

  it.effect.each<readonly [string, Effect.Effect<string, never, Scope.Scope>, Partial<ReturnType<typeof facts>>]>([
    ["a refused connection", Effect.map(closedPort, (port) => `http://127.0.0.1:${port}/secret`), refused],
    ["a refused connection of a name", Effect.map(closedPort, (port) => `http://localhost:${port}/secret`), refused],
    ["an untrusted certificate", Effect.map(Loopback.listen(tls()), (port) => `https://127.0.0.1:${port}/`), untrusted],
    [
      "an https request to a server without TLS",
      Effect.map(Server.make, ({ baseUrl }) => baseUrl.replace("http:", "https:")),
      { description: "the TLS handshake failed", permanent: true }
    ],
    [
      "a response that is not HTTP",
      Effect.map(Loopback.listen(garbage()), (port) => `http://127.0.0.1:${port}/`),
      { code: "HPE_INVALID_CONSTANT", description: "the response is not HTTP", sent: "maybe", permanent: false }
    ]
  ])("%s fails with %j, and shows no path", layer, function* ([, address, expected]) {
    const url = yield* address
    const error = yield* fail(post(url))
    assert.deepInclude(facts(error), expected)
    assert.strictEqual(error.host, new URL(url).host)
    assert.strictEqual(error.message, `Test: ${error.description} (${error.host}, ${error.code})`)
    assert.notMatch(JSON.stringify(error), /secret/)
  })

  it.effect("a connection that is closed before or within the response fails with sent `maybe`", layer, function* () {
    const server = yield* Server.answering(Server.reset)
    const before = yield* fail(post(server.baseUrl))
    const closed = "the server closed the connection"
    assert.deepInclude(facts(before), { description: closed, sent: "maybe", permanent: false })
    assert.oneOf(before.code, ["ECONNRESET", "UND_ERR_SOCKET"])

    server.script(Server.cut(200, "{}".padEnd(100)))
    const response = yield* Exchange.open(yield* HttpClient.HttpClient, post(server.baseUrl), { operation: "Test" })
    const body = Stream.mapError(response.stream, Exchange.toFailure({ operation: "Test" }))
    const within = yield* Effect.flip(Stream.runDrain(body))
    assert.deepInclude(facts(within), { description: `${closed} in the middle of the response`, sent: "maybe" })
  })

  it.effect("an unknown host fails with ENOTFOUND, or with EAI_AGAIN if there is no resolver", layer, function* () {
    const error = yield* fail(post("http://nobody.invalid/secret"))
    // A machine without a resolver cannot distinguish the two.
    const isUnknown = error.code === "ENOTFOUND"
    assert.deepStrictEqual(facts(error), isUnknown ? unknown : noResolution)
    assert.strictEqual(error.host, "nobody.invalid")
    assert.notMatch(JSON.stringify(error), /secret/)
  })

  it.effect("a Uint8Array of another realm is sent unchanged", layer, function* () {
    const server = yield* Server.answering(Server.text(200, "done"))
    const foreign: Uint8Array = runInNewContext("new Uint8Array([104, 101, 108, 108, 111])")
    yield* send(post(server.baseUrl, HttpBody.uint8Array(foreign, "text/plain")))
    assert.strictEqual(server.received[0]?.body, "hello")
  })

  it.effect("an invalid header fails with sent `no`, permanent, and nothing is sent", layer, function* () {
    const server = yield* Server.make
    const { code, ...error } = facts(yield* fail(HttpClientRequest.setHeader(post(server.baseUrl), "x-a", "a\nb")))
    assert.isEmpty(server.received)
    // `fetch` reports a TypeError without a code.
    if (name === "fetch" || name === "FetchClient") return
    assert.oneOf(code, ["UND_ERR_INVALID_ARG", "ERR_INVALID_CHAR"])
    assert.deepStrictEqual({ code, ...error }, refuses("the HTTP client refuses the request", code ?? ""))
  })
})

/** A resolver that finds a host for the given number of lookups, and then fails with a code. */
const resolver =
  (known: number, code: string): LookupFunction =>
  (hostname, options, callback) => {
    if (known-- > 0) {
      if (options.all === true) callback(null, [{ address: "127.0.0.1", family: 4 }])
      else callback(null, "127.0.0.1", 4)
    } else {
      const message = `getaddrinfo ${code} ${hostname}`
      callback(Object.assign(new Error(message), { code, syscall: "getaddrinfo", hostname }), "")
    }
  }

describe.each([
  [
    "undici",
    (lookup: LookupFunction) =>
      Layer.effect(HttpClient.HttpClient, NodeHttpClient.makeUndici).pipe(
        Layer.provide(NodeHttpClient.layerDispatcherOptions({ connect: { lookup } }))
      )
  ],
  ["node:http", (lookup: LookupFunction) => NodeHttpClient.layerNodeHttpOptions({ lookup })]
] as const)("a resolver, with %s", (_, client) => {
  const closing = Server.text(200, "done", { connection: "close" })

  it.effect.each([unknown, noResolution])("a host that has never responded fails with %j", function* (expected) {
    const error = yield* Effect.provide(fail(post("http://service.example/")), client(resolver(0, expected.code)))
    assert.deepStrictEqual(facts(error), expected)
  })

  it.effect("ENOTFOUND is not permanent for a host that has responded", client(resolver(1, "ENOTFOUND")), function* () {
    const server = yield* Server.answering(closing)
    const url = server.baseUrl.replace("127.0.0.1", "service.example")
    assert.strictEqual((yield* send(post(url))).status, 200)
    assert.deepInclude(facts(yield* fail(post(url))), { code: "ENOTFOUND", sent: "no", permanent: false })
  })
})

describe("a client without streams", () => {
  it.effect("a body that the runtime cannot stream fails with STREAM_UNSUPPORTED, sent `no`, permanent", function* () {
    const client = HttpClient.make((request) =>
      failWith(new HttpClientError.EncodeError({ request, description: "not supported in this runtime" }))
    )
    const request = post("https://service.example/")
    const error = yield* Effect.provideService(fail(request), HttpClient.HttpClient, client)
    const expected = refuses("this runtime cannot stream a request body", "STREAM_UNSUPPORTED")
    assert.deepStrictEqual(facts(error), expected)
  })
})

describe("what is repeated", () => {
  const quick = RetryPolicy.layer({ base: "1 millis" })
  const move = cases.find(({ name }) => name === "Dam.move")
  if (move === undefined) throw new Error("no such operation")

  it.live.each(senders)("a get is not retried after an untrusted certificate (%s)", function* ([, http]) {
    let connections = 0
    const server = tls().on("connection", () => connections++)
    const baseUrl = `https://127.0.0.1:${yield* Loopback.listen(server)}`
    const client = AssemblyClient.layer({ baseUrl }).pipe(
      Layer.provide([Authenticator.layerBearer(Redacted.make("token")), http, quick])
    )
    const error = yield* Effect.flip(Effect.provide(Assemblies.get(assemblyId), client))
    assert.deepInclude(error, { _tag: "TransportFailure", code: untrusted.code })
    assert.strictEqual(connections, 1)
  })

  /** An Authenticator that fails the given number of times before it has a token. */
  const without = (times: number, error: AuthError.AuthError) => {
    let asked = 0
    const authenticator = Authenticator.Authenticator.of({
      authenticate: ({ params }) =>
        Effect.suspend(() =>
          asked++ < times
            ? Effect.fail(error)
            : Effect.succeed({ _tag: "Bearer", params: JSON.stringify(params), token: Redacted.make("token") } as const)
        ),
      refused: () => Effect.succeed("final")
    })
    return { layer: Layer.succeed(Authenticator.Authenticator, authenticator), asked: () => asked }
  }

  const runMove = (layer: Layer.Layer<Authenticator.Authenticator>, service: ReturnType<typeof FakeService.make>) =>
    move.run.pipe(
      Effect.provide(
        AssemblyClient.layer({ baseUrl: "https://api2.example.com" }).pipe(
          Layer.provide([layer, service.layer, quick]),
          Layer.orDie
        )
      )
    )

  const late = { description: "status 503", retryAfter: Duration.minutes(2) }
  it.effect.each<readonly [string, ConstructorParameters<typeof AuthError.TokenUnavailable>[0], number]>([
    ["is repeated", { description: "no answer after 30 s" }, 3],
    ["that is permanent fails", { description: "unknown", code: "ENOTFOUND", permanent: true }, 1],
    ["with a Retry-After longer than maxWait fails", late, 1]
  ])("a change after TokenUnavailable %s", function* ([, about, requests]) {
    const service = FakeService.make(FakeService.json(200, move.success))
    const { asked, layer } = without(2, new AuthError.TokenUnavailable(about))
    const { value: error } = yield* Idle.passTime(
      Effect.match(runMove(layer, service), { onSuccess: () => undefined, onFailure: (failure) => failure })
    )
    assert.deepStrictEqual([asked(), service.requests.length], [requests, requests === 3 ? 1 : 0])
    const { code, permanent = false } = { code: undefined, ...about }
    const expected = { description: `No token: ${about.description}`, code, sent: "no", permanent } as const
    assert.deepStrictEqual(error && facts(error as ApiError.TransportFailure), requests === 3 ? undefined : expected)
  })

  it.live("a change is retried after a refused connection, not after a lost response", function* () {
    const lost = FakeService.make(FakeService.lost, FakeService.json(200, move.success))
    const { layer } = without(0, new AuthError.TokenUnavailable({ description: "" }))
    const failure: object = yield* Effect.flip(runMove(layer, lost))
    assert.deepInclude(failure, { _tag: "TransportFailure", sent: "maybe" })
    assert.strictEqual(lost.requests.length, 1)

    const cause = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED", syscall: "connect" })
    const starting = FakeService.make(
      (request) => failWith(new HttpClientError.TransportError({ request, cause })),
      FakeService.json(200, move.success)
    )
    yield* runMove(layer, starting)
    assert.strictEqual(starting.requests.length, 2)
  })
})
