/**
 * A request is sent once and unchanged, whatever the HTTP client does: real servers count the requests that reach them.
 */
import type { Late } from "@assembly-effect/auth/unstable/Gathering"
import { Lost } from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as StreamSender from "@assembly-effect/auth/unstable/StreamSender"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Undici from "@effect/platform-node/Undici"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Stream, Tracer } from "effect"
import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse, type HttpMethod } from "effect/http"
import type { HttpClientError } from "effect/http/HttpClientError"
import { TestClock } from "effect/testing"
import { clients } from "./utils/clients.ts"
import { createServer } from "node:net"
import { gzipSync } from "node:zlib"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

const bytes = (text: string) => new TextEncoder().encode(text)
const contentType = "application/octet-stream"
const inMemory = HttpBody.uint8Array(bytes("hello"), contentType)
const streamed = HttpBody.stream(Stream.make(bytes("he"), bytes("llo")), contentType, 5)

const unsized = HttpBody.stream(Stream.make(bytes("hello")), contentType)

type Wrap = (client: HttpClient.HttpClient) => HttpClient.HttpClient

/** The outcome of a request with a client: the status or the error. */
const send = (request: HttpClientRequest.HttpClientRequest, wrap: Wrap) =>
  Effect.gen(function* () {
    const client = wrap(yield* HttpClient.HttpClient)
    if (request.body._tag === "Stream") return (yield* StreamSender.send(client, request, 1000)).answer.status
    const { origin, pathname, search } = new URL(request.url)
    const { body } = request
    const method = request.method as HttpMethod.HttpMethod
    const content = body._tag === "Uint8Array" ? { content: body.body, contentType: body.contentType } : undefined
    const outgoing = { method, origin, path: pathname + search, headers: request.headers, body: content }
    return (yield* Sender.of(client)(outgoing, { maxBytes: 1000, millis: Infinity })).status
  })

/** Gathers the response to a request without a body. */
const gather = (client: HttpClient.HttpClient, url: string, millis = Infinity) => {
  const { origin, pathname } = new URL(url)
  return Sender.of(client)({ method: "GET", origin, path: pathname, headers: {} }, { maxBytes: 1000, millis })
}

const post = (url: string, body?: HttpBody.HttpBody) => HttpClientRequest.post(url, body === undefined ? {} : { body })

const facts = (error: Lost | Late) => {
  assert.instanceOf(error, Lost)
  const { code, permanent, description, sent } = error
  return { code, description, sent, permanent }
}

const lost = (code: string, description: string) => ({ code, description, sent: "maybe", permanent: true })

const twice = "the HTTP client would have sent the request a second time"
const repeated = { ...lost("REQUEST_REPEATED", twice), permanent: false }
const followed = lost("REQUEST_REDIRECTED", "the HTTP client would have followed a redirect")
const changedLate = lost("BODY_CHANGED", "the HTTP client changed the request body")
const changed = { ...changedLate, sent: "no" }
const misledLate = lost("REQUEST_REDIRECTED", "the HTTP client would have sent the request to another origin")
const elsewhere = { ...misledLate, sent: "no" }
const readTwice = lost("BODY_READ_TWICE", "the HTTP client read the request body twice")
const failed = { code: undefined, description: "the HTTP client failed", sent: "maybe", permanent: false }

const bodies = (server: { readonly received: ReadonlyArray<{ readonly body: string }> }) =>
  server.received.map(({ body }) => body)

const retrying: Wrap = HttpClient.retryTransient({ times: 3 })
const following: Wrap = HttpClient.followRedirects()
const withBody = (body: HttpBody.HttpBody): Wrap => HttpClient.mapRequest(HttpClientRequest.setBody(body))

/** Replaces the body if it is a stream. */
const replacing = (replace: (body: HttpBody.Stream) => Effect.Effect<HttpBody.HttpBody>): Wrap =>
  HttpClient.mapRequestEffect((request: HttpClientRequest.HttpClientRequest) =>
    request.body._tag === "Stream"
      ? Effect.map(replace(request.body), (body) => HttpClientRequest.setBody(request, body))
      : Effect.succeed(request)
  )

/** Reads the body to its end, like a client that signs it, and sends it unchanged. */
const hashing = replacing((body) => Effect.as(Effect.ignore(Stream.runDrain(body.stream)), body))

/** Replaces a stream by its collected bytes. */
const collecting = replacing(({ stream }) =>
  Effect.map(Effect.orDie(Stream.mkUint8Array(stream)), (all) => HttpBody.uint8Array(all, contentType))
)

/** Wraps a streamed body, and keeps its declared length. */
const around = (change: (stream: Stream.Stream<Uint8Array, unknown>) => Stream.Stream<Uint8Array, unknown>): Wrap =>
  replacing((body) => Effect.succeed(HttpBody.stream(change(body.stream), body.contentType, body.contentLength)))

/** ASCII, because the server stores texts. */
const large = "0123456789abcdefg".repeat(20_000)
const largePieces = [0, 1, 2, 3].map((part) => Buffer.from(large.slice(part * 85_000, (part + 1) * 85_000)))
const largeStream = HttpBody.stream(Stream.fromIterable(largePieces), contentType, large.length)

/** Changes only the second piece. */
const second =
  (change: (piece: Uint8Array) => ReadonlyArray<Uint8Array>) => (stream: Stream.Stream<Uint8Array, unknown>) =>
    Stream.flatMap(Stream.zipWithIndex(stream), ([piece, index]) =>
      Stream.fromIterable(index === 1 ? change(piece) : [piece])
    )

/** A client without a span, which hides its sends from the guard. */
const hiding: Wrap = HttpClient.transformResponse(Effect.provideService(HttpClient.TracerDisabledWhen, () => true))

describe.each(clients)("with %s", (_, layer) => {
  it.effect.each([
    ["drops a piece", second(() => [])],
    ["repeats a piece", second((piece) => [piece, piece])],
    ["drops a byte", second((piece) => [piece.subarray(1)])],
    ["changes a byte", second((piece) => [Uint8Array.from(piece, (byte, index) => (index === 7 ? byte ^ 1 : byte))])],
    ["compresses pieces", Stream.map((piece: Uint8Array) => new Uint8Array(gzipSync(piece)))],
    ["ends early", Stream.take(2)],
    ["adds a byte at the end", (stream) => Stream.concat(stream, Stream.succeed(new Uint8Array(1)))]
  ] satisfies ReadonlyArray<readonly [string, Parameters<typeof around>[0]]>)(
    "sends no wrong byte if a client %s",
    layer,
    function* ([, change]) {
      const server = yield* Server.answering(Server.text(200, "taken"))
      const error = yield* Effect.flip(send(post(server.baseUrl, largeStream), around(change)))
      assert.deepStrictEqual<object>(facts(error), changedLate)
      for (const body of bodies(server)) assert.isTrue(large.startsWith(body))
    }
  )

  const adding = HttpClient.mapRequest(HttpClientRequest.setHeader("x-trace", "1"))
  it.effect.each<readonly [string, Wrap]>([
    ["cuts pieces anew", around(Stream.flatMap((piece) => Stream.make(piece.subarray(0, 9), piece.subarray(9))))],
    ["copies pieces", around(Stream.map((piece) => Uint8Array.from(piece)))],
    ["buffers pieces", around(Stream.buffer({ capacity: 32 }))],
    ["collects pieces", collecting],
    ["adds a header", adding]
  ])("sends the body unchanged if a client %s", layer, function* ([, wrap]) {
    const server = yield* Server.answering(Server.text(200, "taken"))
    assert.strictEqual(yield* send(post(server.baseUrl, largeStream), wrap), 200)
    assert.isTrue(server.received.length === 1 && server.received[0]?.body === large)
  })

  const busy = Server.text(503, "busy")
  it.effect.each([
    ["a POST without a body", undefined, busy, false],
    ["a POST with bytes", inMemory, busy, false],
    ["a POST with a stream", streamed, busy, false],
    ["a POST with bytes and a closed connection", inMemory, Server.reset, false],
    ["a POST with the application's Tracer.DisablePropagation", inMemory, busy, true]
  ] as const)("%s is sent once if a client retries it", layer, function* ([, body, answer, isDisabled]) {
    const server = yield* Server.answering(answer, Server.text(200, "done"))
    const error = yield* Effect.flip(send(post(server.baseUrl, body), retrying)).pipe(
      Effect.provideService(Tracer.DisablePropagation, isDisabled)
    )
    assert.deepStrictEqual<object>(facts(error), repeated)
    assert.deepStrictEqual(bodies(server), [body === undefined ? "" : "hello"])
  })

  it.effect("a GET and a HEAD succeed if a client retries a 503", layer, function* () {
    const server = yield* Server.make
    for (const request of [HttpClientRequest.get(server.baseUrl), HttpClientRequest.head(server.baseUrl)]) {
      server.script(Server.text(503, "busy"), Server.text(200, "done"))
      assert.strictEqual(yield* send(request, retrying), 200)
    }
    assert.strictEqual(server.received.length, 4)
  })

  it.effect("a followed redirect fails with REQUEST_REDIRECTED, and sends no second request", layer, function* () {
    const server = yield* Server.make
    const other = yield* Server.answering(Server.text(200, "stolen"))
    const url = `${server.baseUrl}/a?signature=s`
    for (const status of [301, 302, 303, 307, 308]) {
      for (const request of [post(url, inMemory), HttpClientRequest.get(url)]) {
        for (const location of [`${other.baseUrl}/b`, "/b"]) {
          server.script(Server.text(status, "", { location }), Server.text(200, "followed"))
          const before = server.received.length
          assert.deepStrictEqual<object>(facts(yield* Effect.flip(send(request, following))), followed)
          assert.strictEqual(server.received.length, before + 1)
        }
      }
    }
    assert.isEmpty(other.received)
  })

  it.effect("nothing is sent if a client changes the origin, bytes, length or encoding", layer, function* () {
    const server = yield* Server.answering(Server.text(200, "done"))
    const other = yield* Server.answering(Server.text(200, "done"))
    const url = server.baseUrl
    const cases: ReadonlyArray<readonly [HttpClientRequest.HttpClientRequest, Wrap, object]> = [
      [post(url, inMemory), HttpClient.mapRequest(HttpClientRequest.setUrl(`${other.baseUrl}/a`)), elsewhere],
      [HttpClientRequest.get(url), HttpClient.mapRequest(HttpClientRequest.setUrl(other.baseUrl)), elsewhere],
      [post(url), withBody(inMemory), changed],
      [post(url), withBody(HttpBody.stream(Stream.make(bytes("more")), contentType)), changed],
      [post(url, inMemory), withBody(HttpBody.empty), changed],
      [post(url, inMemory), withBody(HttpBody.uint8Array(bytes("hello!"), contentType)), changed],
      [post(url, streamed), withBody(HttpBody.uint8Array(bytes("hell"), contentType)), changed],
      [post(url, inMemory), HttpClient.mapRequest(HttpClientRequest.setHeader("content-length", "4")), changed],
      [post(url, streamed), HttpClient.mapRequest(HttpClientRequest.setHeader("content-encoding", "gzip")), changed],
      [post(url, inMemory), HttpClient.mapRequest(HttpClientRequest.setHeader("content-encoding", "gzip")), changed],
      [post(url, inMemory), withBody(HttpBody.uint8Array(bytes("HELLO"), contentType)), changed],
      [post(url, inMemory), withBody(HttpBody.raw(bytes("HELLO"), { contentType, contentLength: 5 })), changed],
      [post(url, unsized), withBody(HttpBody.uint8Array(bytes("hell"), contentType)), changed]
    ]
    for (const [request, wrap, expected] of cases) {
      assert.deepStrictEqual<object>(facts(yield* Effect.flip(send(request, wrap))), expected)
    }
    assert.isEmpty([...server.received, ...other.received])
  })

  it.effect("nothing is sent, and the first error stays, if a client sends again after a refusal", layer, function* () {
    const server = yield* Server.answering(Server.text(200, "done"))
    const other = yield* Server.answering(Server.text(200, "done"))
    /** Sends again what was refused, as it was, or with other bytes. */
    const insisting =
      (again: Wrap): Wrap =>
      (client) => {
        const misled = HttpClient.mapRequest(client, HttpClientRequest.setUrl(`${other.baseUrl}/a`))
        return HttpClient.transform(again(client), (sent, request) =>
          Effect.catchCause(misled.execute(request), () => sent)
        )
      }
    for (const again of [(client) => client, withBody(HttpBody.empty)] satisfies ReadonlyArray<Wrap>) {
      const error = yield* Effect.flip(send(post(server.baseUrl, inMemory), insisting(again)))
      assert.deepStrictEqual<object>(facts(error), elsewhere)
    }
    assert.isEmpty([...server.received, ...other.received])
  })

  it.effect("fails with BODY_READ_TWICE or REQUEST_REPEATED for a second read or send", layer, function* () {
    const server = yield* Server.answering(Server.text(503, "busy"), Server.text(200, "done"))
    const first = yield* Effect.flip(send(post(server.baseUrl, streamed), hashing))
    assert.deepStrictEqual<object>(facts(first), readTwice)
    assert.isEmpty(server.received)
    const again = yield* Effect.flip(send(post(server.baseUrl, streamed), (client) => retrying(collecting(client))))
    assert.deepStrictEqual<object>(facts(again), repeated)
    assert.strictEqual(server.received.length, 1)
  })

  it.effect("fails with REQUEST_REPEATED if a client replaces the failure by a response", layer, function* () {
    const server = yield* Server.answering(Server.text(503, "busy"), Server.text(200, "done"))
    const request = post(server.baseUrl, inMemory)
    const inventing: Wrap = (client) =>
      HttpClient.transformResponse(
        retrying(client),
        (sent): Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError> =>
          Effect.catchCause(sent, () => Effect.succeed(HttpClientResponse.fromWeb(request, new Response("invented"))))
      )
    assert.deepStrictEqual<object>(facts(yield* Effect.flip(send(request, inventing))), repeated)
    assert.strictEqual(server.received.length, 1)
  })

  it.effect("a refused connection fails with sent `maybe` if a client hides its sends", layer, function* () {
    const port = yield* Effect.scoped(Loopback.listen(createServer()))
    const error = facts(yield* Effect.flip(send(post(`http://127.0.0.1:${port}/`, inMemory), hiding)))
    assert.deepInclude(error, { code: "ECONNREFUSED", sent: "maybe", permanent: false })
  })

  it.effect("checks origin and length in the response of a client that hides its sends", layer, function* () {
    const server = yield* Server.answering(Server.text(200, "done"))
    const other = yield* Server.answering(Server.text(200, "stolen"))
    const request = post(server.baseUrl, inMemory)
    const misled: Wrap = (client) =>
      HttpClient.mapRequest(hiding(client), HttpClientRequest.setUrl(`${other.baseUrl}/a`))
    assert.strictEqual(yield* send(request, hiding), 200)
    assert.deepStrictEqual<object>(facts(yield* Effect.flip(send(request, misled))), misledLate)
    const longer: Wrap = (client) => withBody(HttpBody.uint8Array(bytes("hello!"), contentType))(hiding(client))
    assert.deepStrictEqual<object>(facts(yield* Effect.flip(send(request, longer))), changedLate)
  })

  it.effect.each([
    ["text", (response) => response.text],
    ["json", (response) => response.json],
    ["arrayBuffer", (response) => response.arrayBuffer]
  ] satisfies ReadonlyArray<
    readonly [string, (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, HttpClientError>]
  >)("gathers the bytes of a response whose %s a wrapper of the client has read", layer, function* ([, read]) {
    const server = yield* Server.answering(Server.text(200, '{"a":"é"}'))
    const client = HttpClient.tap(yield* HttpClient.HttpClient, (response): Effect.Effect<unknown, HttpClientError> =>
      read(response)
    )
    const { bytes: received } = yield* gather(client, server.baseUrl)
    assert.strictEqual(new TextDecoder().decode(received), '{"a":"é"}')
  })

  it.effect.each([new Error("x"), "x", undefined, { _tag: "TimeoutError" }])(
    "is lost, and maybe sent, if a wrapper fails with %s instead of an HttpClientError after it sent",
    layer,
    function* (failure) {
      const server = yield* Server.answering(Server.text(200, "done"))
      const failing = HttpClient.transform(yield* HttpClient.HttpClient, (sent) =>
        Effect.andThen(sent, Effect.fail(failure as HttpClientError))
      )
      assert.deepStrictEqual<object>(facts(yield* Effect.flip(gather(failing, server.baseUrl))), failed)
    }
  )

  it.effect("is late after its time limit, although a wrapper makes the client uninterruptible", () =>
    Effect.gen(function* () {
      const server = yield* Server.answering(Server.silence)
      const stubborn = HttpClient.transform(yield* HttpClient.HttpClient, Effect.uninterruptible)
      assert.strictEqual((yield* Effect.flip(gather(stubborn, server.baseUrl, 50)))._tag, "Late")
    }).pipe(TestClock.withLive, Effect.provide(layer))
  )

  it.effect("returns the status 403 if a client fails for it", layer, function* () {
    const server = yield* Server.answering(Server.text(403, "no"))
    assert.strictEqual(yield* send(post(server.baseUrl, inMemory), HttpClient.filterStatusOk), 403)
  })
})

describe("below the client", () => {
  it.effect("a streamed POST is sent once, and fails, if the dispatcher retries", function* () {
    const server = yield* Server.answering(Server.reset, Server.text(200, "done"))
    const dispatcher = Layer.effect(
      NodeHttpClient.Dispatcher,
      Effect.map(
        NodeHttpClient.makeDispatcher,
        (agent) => new Undici.RetryAgent(agent, { methods: ["POST"], minTimeout: 1, maxRetries: 3 })
      )
    )
    const client = Layer.effect(HttpClient.HttpClient, NodeHttpClient.makeUndici).pipe(Layer.provide(dispatcher))
    const error = yield* Effect.flip(send(post(server.baseUrl, streamed), (self) => self)).pipe(Effect.provide(client))
    assert.deepInclude(facts(error), { sent: "maybe", permanent: false })
    assert.deepStrictEqual(bodies(server), ["hello"])
  })
})
