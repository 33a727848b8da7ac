/** What a download makes of the responses that a server may give, and what it leaves behind meanwhile. */
import * as Undici from "@effect/platform-node/NodeHttpClient"
import * as Results from "@assembly-effect/api/Results"
import { RetryPolicy } from "@assembly-effect/api"
import type { Assembly } from "@assembly-effect/schema"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Deferred, Duration, Effect, Fiber, Metric, Option, Schedule, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { inspect } from "node:util"
import * as Spans from "@assembly-effect/testkit/observed/Spans"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as FileServer from "./utils/FileServer.ts"

const live = Undici.layerUndici
const strong: FileServer.Kind = { validator: "strong etag", hasRanges: true }
const bytes = FileServer.bytesOf(1000, 7)
const md5hash = FileServer.hash("md5", bytes)
const etag = `"${md5hash}"`
const whole = FileServer.answer(bytes, strong)

const five = RetryPolicy.withPolicy(Schedule.recurs(5))

const collect = (file: Assembly.File) =>
  Results.download(file).pipe(
    Stream.runCollect,
    Effect.map((pieces) => Buffer.concat(pieces))
  )

/** A server whose first response breaks off after 500 bytes that the download has seen. `head` replaces its headers. */
const afterHalf = Effect.fnUntraced(function* (
  head: Readonly<Record<string, string | number>>,
  next: Server.Answer,
  file: Assembly.File = {}
) {
  let first: ServerResponse | undefined
  const { server, url } = yield* FileServer.make([
    (_, response) => {
      first = response
      response.sendDate = false
      response.writeHead(200, head)
      response.write(bytes.subarray(0, 500))
    },
    next
  ])
  const seen: Array<Uint8Array> = []
  const run = Results.download({ ssl_url: url, ...file }).pipe(
    Stream.runForEach((piece) =>
      Effect.sync(() => {
        seen.push(piece)
        if (Buffer.concat(seen).length === 500) first?.destroy()
      })
    ),
    five,
    Effect.map(() => Buffer.concat(seen))
  )
  return { run, server }
})

const lengths = { etag, "content-length": bytes.length }

const turn = Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve)))
const until = (isSo: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (isSo() ? Effect.void : Effect.andThen(turn, until(isSo))))

describe("the rest of a file", () => {
  it.live.each([
    ["the rest of a file, with Range and If-Range,", lengths, { range: "bytes=500-", "if-range": etag }],
    [
      "the whole file, because a Last-Modified proves nothing,",
      { "last-modified": "Sat, 21 Nov 2026 12:00:00 GMT", "content-length": bytes.length },
      {}
    ]
  ] as const)("requests %s after a cut", live, function* ([, head, expected]) {
    const { run, server } = yield* afterHalf(head, whole)
    assert.isTrue((yield* run).equals(bytes))
    const { "if-range": condition, range } = server.received[1]?.headers ?? {}
    assert.deepStrictEqual({ ...(range && { range }), ...(condition && { "if-range": condition }) }, expected)
  })

  const dated = {
    "content-length": bytes.length,
    date: "Sat, 21 Nov 2026 12:00:00 GMT",
    "last-modified": "Fri, 20 Nov 2026 12:00:00 GMT"
  }
  const refused = (range?: string) => Server.text(416, "", range === undefined ? {} : { "content-range": range })
  const mismatch = { _tag: "ResultMismatch", field: "size", expected: "1000", actual: "400" } as const
  const odd = (description: string) => ({ _tag: "UnexpectedResponse", status: 416, description }) as const
  const later = Server.text(200, bytes, { "last-modified": "Fri, 20 Nov 2026 12:00:01 GMT" })
  for (const [what, head, answer, file, expected] of [
    ["shrank", lengths, refused("bytes */400"), {}, { _tag: "ResultChanged", field: "length" }],
    ["is smaller than the size in the Status", { etag }, refused("bytes */400"), { size: 1000 }, mismatch],
    ["has an unknown size", lengths, refused(), {}, odd("a refused range without the size of the file")],
    ["has the range", lengths, refused("bytes */1000"), {}, odd("a refused range, although the file has these bytes")],
    ["has another date", dated, later, {}, { _tag: "ResultChanged", field: "last-modified" }]
  ] as const) {
    it.live(`the rest of a file fails with ${expected._tag} if the file ${what}`, live, function* () {
      const { run, server } = yield* afterHalf(head, answer, file)
      assert.deepInclude(yield* Effect.flip(run), expected)
      assert.strictEqual(server.received.length, 2)
    })
  }

  const half: Server.Answer = (_, response) => {
    response.writeHead(206, { "content-range": "bytes 500-999/1000", "content-length": 500 })
    response.end(bytes.subarray(500))
  }

  it.live(
    "the rest of a file with a date or a weak ETag fails with ResultChanged if its first bytes differ",
    live,
    function* () {
      const other = bytes.map((byte, index) => (index === 3 ? byte ^ 1 : byte))
      for (const [head, answer] of [
        [dated, Server.text(200, other)],
        [{ ...lengths, etag: 'W/"vague"' }, FileServer.answer(other, { validator: "vague etag", hasRanges: true })]
      ] as const) {
        const { run } = yield* afterHalf(head, answer)
        assert.deepInclude(yield* Effect.flip(run), { _tag: "ResultChanged", field: "content" })
      }
    }
  )

  it.live("the rest of a file with only a date is accepted if its bytes or the MD5 prove it", live, function* () {
    const store = yield* FileServer.make([half])
    const redirect = Server.text(302, "", { location: store.url })
    const same = Server.text(200, bytes, { "last-modified": dated["last-modified"] })
    for (const [answer, file] of [
      [same, {}],
      [Server.text(200, bytes), {}],
      [Server.text(200, bytes), { md5hash }],
      [half, { md5hash }],
      [redirect, { md5hash }]
    ] as const) {
      const { run } = yield* afterHalf(dated, answer, file)
      assert.isTrue((yield* run).equals(bytes))
    }
  })

  it.live("fails with UnexpectedResponse if Content-Length contradicts Content-Range", live, function* () {
    for (const length of [499, 501]) {
      const head = { etag, "content-range": "bytes 500-999/1000", "content-length": length }
      const { run, server } = yield* afterHalf(lengths, (_, response) => {
        response.writeHead(206, head)
        response.end(Buffer.alloc(length))
      })
      const error = yield* Effect.flip(run)
      assert.deepInclude(error, { _tag: "UnexpectedResponse", status: 206 })
      assert.include(error.message, "a Content-Length that contradicts the Content-Range")
      assert.strictEqual(server.received.length, 2)
    }
  })
})

describe("a download", () => {
  it.live("a download is complete with its last byte, even if the connection is cut then", live, function* () {
    const { server, url } = yield* FileServer.make([
      (_, response) => {
        response.writeHead(200, { etag, "transfer-encoding": "chunked" })
        response.write(bytes, () => response.destroy())
      }
    ])
    const read = yield* collect({ ssl_url: url, size: bytes.length, md5hash }).pipe(RetryPolicy.none)
    assert.isTrue(read.equals(bytes))
    assert.strictEqual(server.received.length, 1)
  })

  it.live("ignores an empty md5hash, and accepts one in capitals", live, function* () {
    for (const given of ["", md5hash.toUpperCase()]) {
      const { url } = yield* FileServer.make([whole])
      assert.isTrue((yield* collect({ ssl_url: url, md5hash: given })).equals(bytes), given)
    }
  })

  it.live("downloads from ssl_url if it is not empty, else from url", live, function* () {
    const { server, url } = yield* FileServer.make([whole])
    const other = yield* FileServer.make([whole])
    yield* collect({ ssl_url: url, url: other.url })
    yield* collect({ ssl_url: "", url })
    assert.deepStrictEqual([server.received.length, other.server.received.length], [2, 0])
  })

  it.live("follows five redirects of each status, and an error has the host of the last one", live, function* () {
    const to = (location: string, status: number) => Server.text(status, "", { location })
    for (const status of [301, 302, 303, 307, 308]) {
      const { server, url } = yield* FileServer.make([...[0, 1, 2, 3, 4].map(() => to("", status)), whole])
      assert.isTrue((yield* collect({ ssl_url: url })).equals(bytes))
      assert.strictEqual(server.received.length, 6)
    }
    const store = yield* FileServer.make([Server.text(404, "")])
    const { url } = yield* FileServer.make([to(store.url, 302)])
    const error = yield* Effect.flip(collect({ ssl_url: url }))
    assert.deepInclude(error, { _tag: "UnexpectedResponse", host: new URL(store.url).host })
  })

  it.live("an error shows no part of the URL that a server repeats as x-request-id", live, function* () {
    const { server, url } = yield* FileServer.make([
      (_, response) => Server.text(404, "", { "x-request-id": `r:${url}` })(_, response)
    ])
    const error = yield* Effect.flip(collect({ ssl_url: url }))
    assert.deepInclude(error, { _tag: "UnexpectedResponse" })
    assert.notInclude(inspect(error, { depth: 9 }), "secret-of-the-url")
    assert.strictEqual(server.received.length, 1)
  })

  it.effect("returns an empty file if the response of a client has no body and Content-Length is 0", function* () {
    const http = HttpClient.make((request) =>
      Effect.succeed(
        HttpClientResponse.fromWeb(request, new Response(null, { status: 200, headers: { "content-length": "0" } }))
      )
    )
    const read = yield* collect({ ssl_url: "https://example.com/a", size: 0 }).pipe(
      RetryPolicy.none,
      Effect.provideService(HttpClient.HttpClient, http)
    )
    assert.strictEqual(read.length, 0)
  })

  it.live("fails with UnexpectedResponse for an empty body with status 201 to 205 or 304", live, function* () {
    for (const status of [201, 202, 203, 204, 205, 304]) {
      const { url } = yield* FileServer.make([
        (_, response) => void response.writeHead(status, status < 204 ? { "content-length": 0 } : {}).end()
      ])
      const error = yield* Effect.flip(collect({ ssl_url: url, size: 0 }).pipe(RetryPolicy.none))
      assert.deepInclude(error, { _tag: "UnexpectedResponse", status, description: "not a file" })
    }
  })

  it.live("the span of a download has its server and retries, and a metric counts the retries", live, function* () {
    const { url } = yield* FileServer.make([Server.text(503, ""), whole])
    const registry = new Map()
    const { spans, tracer } = Spans.make()
    yield* collect({ ssl_url: url }).pipe(
      five,
      Effect.withTracer(tracer),
      Effect.provideService(Metric.MetricRegistry, registry)
    )
    const metrics = yield* Effect.provideService(Metric.snapshot, Metric.MetricRegistry, registry)
    const seen = metrics.filter(({ id }) => id === "assembly_retries").map(({ attributes }) => attributes)
    assert.deepStrictEqual(seen, [{ operation: "Results.download", error: "UnexpectedResponse" }])
    const span = spans.find(({ name }) => name === "Results.download")
    const { hostname, port } = new URL(url)
    assert.deepStrictEqual(
      ["server.address", "server.port", "http.request.resend_count"].map((name) => span?.attributes.get(name)),
      [hostname, Number(port), 1]
    )
  })

  it.live("the policy gets each failure with the Retry-After of the server", live, function* () {
    const failures: Array<readonly [tag: string, wait: number | undefined]> = []
    const noting = Schedule.forever.pipe(
      Schedule.setInputType<RetryPolicy.Failure>(),
      Schedule.tap(({ input: { error, wait } }) =>
        Effect.sync(() => failures.push([error._tag, Option.getOrUndefined(Option.map(wait, Duration.toSeconds))]))
      )
    )
    const { url } = yield* FileServer.make([
      Server.text(429, "", { "retry-after": "1" }),
      Server.text(503, "", { "retry-after": "0" }),
      Server.text(500, ""),
      Server.reset,
      whole
    ])
    yield* collect({ ssl_url: url }).pipe(RetryPolicy.withPolicy(noting))
    assert.deepStrictEqual(failures, [
      ["RateLimited", 1],
      ["UnexpectedResponse", 0],
      ["UnexpectedResponse", undefined],
      ["TransportFailure", undefined]
    ])
  })

  it.effect("a retry starts after the pause of the policy", live, function* () {
    const { server, url } = yield* FileServer.make([Server.text(503, ""), whole])
    const failed = yield* Deferred.make<void>()
    const policy = Schedule.tap(Schedule.spaced("1 minute"), () => Deferred.succeed(failed, undefined))
    const idle = Idle.make()
    const run = collect({ ssl_url: url }).pipe(RetryPolicy.withPolicy(policy), idle.within)
    const fiber = yield* Effect.forkChild(run)
    yield* Deferred.await(failed)
    yield* idle.settled
    yield* TestClock.adjust("59 seconds")
    yield* idle.settled
    assert.strictEqual(server.received.length, 1)
    yield* TestClock.adjust("1 second")
    assert.isTrue((yield* Fiber.join(fiber)).equals(bytes))
  })
})

describe("the connections of a download", () => {
  /** A response without an end, and when its connection is closed. */
  const endless = (status: number, headers: Readonly<Record<string, string>> = {}) => {
    const closed = Deferred.makeUnsafe<void>()
    const answer: Server.Answer = (_, response) => {
      response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
      response.writeHead(status, headers)
      response.write("x".repeat(10))
    }
    return { answer, closed }
  }

  for (const [what, status, headers] of [
    ["status 503", 503, {}],
    ["a redirect", 302, { location: "" }]
  ] as const) {
    it.live(`a download closes the connection of an endless response with ${what}`, live, function* () {
      const { answer, closed } = endless(status, headers)
      const { url } = yield* FileServer.make([answer, whole])
      yield* Results.download({ ssl_url: url }).pipe(
        // The download is not over, so nothing but the download itself frees the connection.
        Stream.runForEach(() => Deferred.await(closed)),
        five
      )
    })
  }

  it.effect("a download closes the connection of a response that stalls", live, function* () {
    const { answer, closed } = endless(200, { etag, "content-length": "1000" })
    const { server, url } = yield* FileServer.make([answer, whole])
    const fiber = yield* Results.download({ ssl_url: url }, { stallTimeout: "5 seconds" }).pipe(
      Stream.tap(() => (server.received.length === 2 ? Deferred.await(closed) : Effect.void)),
      Stream.runDrain,
      five,
      Effect.forkChild
    )
    yield* until(() => server.received.length === 1)
    yield* until(() => server.received.length === 2).pipe(
      Effect.raceFirst(Effect.forever(Effect.andThen(turn, TestClock.adjust("100 millis"))))
    )
    yield* Fiber.join(fiber)
  })
})
