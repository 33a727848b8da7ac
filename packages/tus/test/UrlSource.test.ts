/**
 * Sources that are HTTP resources: honest servers, servers whose resource changes, and hostile ones.
 */
import { RetryPolicy } from "@assembly-effect/api"
import { Tus, type UploadSource, WebSource } from "@assembly-effect/tus"
import { assert, describe, it as test, layer } from "@assembly-effect/testkit/flow"
import { Deferred, Duration, Effect, Fiber, Option, Schedule, Stream } from "effect"
import { HttpClient } from "effect/http"
import { gzipSync } from "node:zlib"
import * as HostileServer from "@assembly-effect/testkit/hostile/HostileServer"
import { Clients, Scene, Tests, TusServer, Upload, WebResource } from "./utils/index.ts"

const bytes = Scene.content(2_000_000)

/** Pauses that no test waits for. */
const quick = RetryPolicy.withPolicy(RetryPolicy.make({ retries: 3, base: "1 millis", maxPause: "2 millis" }))

const ranged = (url: string) =>
  Effect.gen(function* () {
    const source = yield* WebSource.fromUrl(url)
    if (source._tag !== "Replayable") return yield* Effect.die(new Error("the source cannot be read again"))
    return source
  })

/** A resource with ranges, and its source. */
const described = Effect.gen(function* () {
  const resource = yield* WebResource.make(bytes)
  return { resource, source: yield* ranged(resource.url) }
})

/** A resource without ranges, and the source that is read once. */
const unranged = Effect.gen(function* () {
  const resource = yield* WebResource.make(bytes)
  resource.ranges = false
  return { resource, source: yield* WebSource.fromUrl(resource.url) }
})

const read = (stream: Stream.Stream<Uint8Array, UploadSource.SourceFailed>) =>
  Effect.map(Stream.mkUint8Array(stream), TusServer.sha256)

/** The error of a read of the whole source, which must not contain the credential of the URL. */
const failure = (source: UploadSource.UploadSource) =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(read(source._tag === "OneShot" ? source.stream : source.bytes(0n, source.size)))
    assert.notInclude(error.message, "secret")
    assert.notInclude(error.message, "video.mp4")
    return error
  })

/** A server may send less than was asked for. */
const less =
  (whole: Uint8Array, size: number): WebResource.Answer =>
  ({ headers }, response) => {
    const start = Number(/bytes=(\d+)/.exec(headers.range ?? "")?.[1])
    const range = `bytes ${start}-${start + size - 1}/${whole.length}`
    response.writeHead(206, { etag: '"one"', "content-range": range }).end(whole.subarray(start, start + size))
  }

const clients = { undici: Clients.undici, fetch: Clients.fetch }

for (const [name, client] of Object.entries(clients)) {
  layer(client)(`WebSource.fromUrl with ${name}`, (it) => {
    it.effect("reads any range of a resource with ranges and a strong ETag", function* () {
      const { resource, source } = yield* described
      assert.strictEqual(source.size, 2_000_000n)
      for (const range of ["0-2000000", "0-0", "0-1", "777-1500001", "1999999-2000000", "2000000-2000000"]) {
        const [start = 0, end = 0] = range.split("-").map(Number)
        const expected = TusServer.sha256(bytes.subarray(start, end))
        assert.strictEqual(yield* read(source.bytes(BigInt(start), BigInt(end))), expected, range)
      }
      assert.deepStrictEqual(Tests.pluck(resource.requests, "line"), [
        "GET bytes=0-0",
        "GET bytes=0-1999999",
        "GET bytes=0-0",
        "GET bytes=777-1500000",
        "GET bytes=1999999-1999999"
      ])
      // fetch adds it to requests for ranges once more.
      for (const { headers } of resource.requests)
        assert.match(headers["accept-encoding"] ?? "", /^identity(, identity)?$/)
      assert.strictEqual(resource.requests[1]?.headers["if-range"], '"one"')
    })

    it.effect("is uploaded, in one request, in chunks and in parts, after a lost response too", function* () {
      const resource = yield* WebResource.make(bytes)
      for (const more of [{}, { chunkSize: 700_000 }, { parallel: 2 }, { checksum: "sha256" as const }]) {
        const { server, target } = yield* Scene.make([{ _tag: "Cut", method: "PATCH", bytes: 100_000 }])
        server.checksums = ["sha256"]
        yield* Upload.run(target, yield* ranged(resource.url), { ...Scene.options, ...more })
        assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
      }
    })

    it.effect("goes on with the rest of a range after cuts, and after parts of it", function* () {
      const { resource, source } = yield* described
      resource.meet = (request, response, go, index) => {
        if (index === 1) return go(300_000)
        if (index === 2) return HostileServer.text(503, "busy", { "retry-after": 0 })(request, response)
        if (index === 3) return void response.destroy()
        if (index !== 4) return go()
        less(bytes, 1000)(request, response)
      }
      assert.strictEqual(yield* read(source.bytes(0n, source.size)).pipe(quick), TusServer.sha256(bytes))
      const starts = resource.requests.slice(2).map(({ line }) => Number(/=(\d+)/.exec(line)?.[1]))
      // What arrived before the first cut is not asked for again.
      assert.isAtMost(starts[0]!, 300_000)
      assert.deepStrictEqual(starts, [starts[0], starts[0], starts[0], starts[0]! + 1000])
    })

    it.effect("gives up as the retry policy decides", function* () {
      const { resource, source } = yield* described
      resource.meet = (_, response) => void response.destroy()
      for (const [policy, requests] of [
        [RetryPolicy.none, 2],
        [quick, 2 + 4]
      ] as const) {
        assert.strictEqual((yield* failure(source).pipe(policy)).kind, "Unreadable")
        assert.strictEqual(resource.requests.length, requests)
      }
    })

    it.effect.each(
      Object.entries({
        "another ETag": { etag: '"two"' },
        "no ETag": { etag: undefined },
        "a weak ETag": { etag: 'W/"one"' },
        "fewer bytes": { bytes: bytes.subarray(0, 1_000_000) },
        "more bytes": { bytes: Scene.content(2_000_001) },
        "hardly any bytes": { bytes: bytes.subarray(0, 1) }
      } satisfies Readonly<Record<string, Partial<WebResource.WebResource>>>)
    )("is Changed when the resource has %s in the middle, and no upload is completed", function* ([, change]) {
      // A server that knows preconditions, and one that ignores them.
      for (const ignores of [true, false]) {
        const resource = yield* WebResource.make(bytes)
        const source = yield* ranged(resource.url)
        const { server, target } = yield* Scene.make()
        resource.meet = (request, _, go, index) => {
          if (index === 1) return go(300_000)
          Object.assign(resource, change)
          if (ignores) delete request.headers["if-range"]
          go()
        }
        const error = yield* Effect.flip(Upload.run(target, source, Scene.options).pipe(quick))
        assert.deepInclude(error, { _tag: "SourceFailed", kind: "Changed" })
        assert.isFalse(server.log.includes("PATCH 204"))
      }
    })

    it.effect.each(
      Object.entries({
        "no ranges": { ranges: false },
        "no ETag": { etag: undefined },
        "a weak ETag": { etag: 'W/"one"' },
        "neither ranges nor a length": { ranges: false, hasLength: false },
        "accept-ranges: none": { acceptRanges: "none" }
      } satisfies Readonly<Record<string, Partial<WebResource.WebResource>>>)
    )("is a stream that is read once with %s", function* ([, settings]) {
      const resource = yield* WebResource.make(bytes)
      Object.assign(resource, settings)
      const source = yield* WebSource.fromUrl(resource.url)
      assert.strictEqual(source._tag, "OneShot")
      assert.strictEqual(source.size, resource.hasLength ? 2_000_000n : undefined)
      const { server, target } = yield* Scene.make()
      yield* Upload.run(target, source, { ...Scene.options, chunkSize: 600_000 })
      assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
      assert.deepStrictEqual(Tests.pluck(resource.requests, "line"), ["GET bytes=0-0", "GET all"])
    })

    it.effect("notices a change of a stream that is read once", function* () {
      for (const change of [{ etag: '"two"' }, { bytes: bytes.subarray(1) }]) {
        const { resource, source } = yield* unranged
        Object.assign(resource, change)
        assert.strictEqual((yield* failure(source)).kind, "Changed")
      }
    })

    it.effect("does not complete an upload of a stream that breaks off", function* () {
      const { resource, source } = yield* unranged
      resource.meet = (_, __, go) => go(1_200_000)
      const { server, target } = yield* Scene.make()
      const error = yield* Effect.flip(Upload.run(target, source, { ...Scene.options, chunkSize: 500_000 }))
      assert.deepInclude(error, { _tag: "SourceFailed", kind: "Unreadable" })
      assert.notInclude(server.requests, "HEAD")
      assert.strictEqual(resource.requests.length, 2)
    })

    it.effect("uploads an empty resource, whose 416 has no ETag, or one of its own", function* () {
      for (const etag of [undefined, '"error"']) {
        const resource = yield* WebResource.make(new Uint8Array(0))
        resource.meet = (_, __, go, index) => {
          resource.etag = index === 0 ? etag : '"one"'
          go()
        }
        const source = yield* WebSource.fromUrl(resource.url)
        assert.strictEqual(source.size, 0n)
        assert(source._tag === "OneShot")
        const { server, target } = yield* Scene.make()
        assert.strictEqual((yield* Upload.run(target, source, Scene.options)).length, 0n)
        assert.strictEqual(server.created.length, 1)
        resource.bytes = bytes
        assert.strictEqual((yield* failure(source)).kind, "Changed")
      }
    })

    it.effect("follows no redirect, neither at first nor later", function* () {
      const elsewhere = yield* WebResource.make(bytes)
      const { resource, source } = yield* described
      resource.meet = (_, response) => void response.writeHead(302, { location: elsewhere.url }).end()
      const headers = { authorization: "Bearer secret" }
      const first = yield* Effect.flip(WebSource.fromUrl(resource.url, { headers }))
      assert.include(first.message, "redirect")
      assert.include((yield* failure(source)).message, "redirect")
      const following = HttpClient.followRedirects(yield* HttpClient.HttpClient)
      const wrapped = yield* WebSource.fromUrl(resource.url, { headers }).pipe(
        Effect.provideService(HttpClient.HttpClient, following),
        Effect.flip
      )
      assert.strictEqual(wrapped.kind, "Unreadable")
      assert.deepStrictEqual(elsewhere.requests, [])
    })

    it.effect("sends the given headers with each request, but not instead of its own", function* () {
      const resource = yield* WebResource.make(bytes)
      const headers = { authorization: "Bearer secret", range: "bytes=5-6", "accept-encoding": "gzip" }
      const source = yield* WebSource.fromUrl(resource.url, { headers })
      assert.strictEqual(source.size, 2_000_000n)
      if (source._tag === "Replayable") yield* read(source.bytes(0n, source.size))
      assert.strictEqual(resource.requests.length, 2)
      for (const request of resource.requests) {
        assert.strictEqual(request.headers.authorization, "Bearer secret")
        assert.match(request.headers["accept-encoding"] ?? "", /^identity(, identity)?$/)
      }
    })

    it.effect("refuses a response with a content-encoding", function* () {
      const { resource, source } = yield* described
      resource.meet = (request, response) => {
        const body = gzipSync(bytes)
        const headers = { etag: '"one"', "content-encoding": "gzip" }
        if (request.headers.range === "bytes=0-0") return void response.writeHead(200, headers).end(body)
        response.writeHead(206, { ...headers, "content-range": "bytes 0-1999999/2000000" }).end(body)
      }
      assert.include((yield* Effect.flip(WebSource.fromUrl(resource.url))).message, "content-encoding")
      assert.include((yield* failure(source)).message, "content-encoding")
    })

    it.effect("has an identity of the URL, without a presigned signature, and the ETag", function* () {
      const resource = yield* WebResource.make(bytes)
      const identity = (more: string, isPresigned: boolean) =>
        WebSource.fromUrl(resource.url + more, { isPresigned }).pipe(
          Effect.flatMap((source) => ("identity" in source ? source.identity : Effect.undefined))
        )
      for (const isPresigned of [true, false]) {
        resource.etag = '"one"'
        const first = yield* identity("", isPresigned)
        assert.match(first ?? "", /^url [0-9a-f]{64}$/)
        assert.strictEqual((yield* identity("2", isPresigned)) === first, isPresigned)
        resource.etag = '"another"'
        assert.notStrictEqual(yield* identity("", isPresigned), first)
      }
    })

    it.effect("frees its connections when it is interrupted, and reads no faster than it is read", function* () {
      const large = new Uint8Array(64 * 1024 * 1024)
      for (const ranges of [true, false]) {
        const resource = yield* WebResource.make(large)
        resource.ranges = ranges
        const source = yield* WebSource.fromUrl(resource.url)
        const stream = source._tag === "OneShot" ? source.stream : source.bytes(0n, source.size)
        const before = resource.left()
        const fiber = yield* Effect.forkChild(Stream.runForEach(stream, () => Effect.never))
        while (resource.requests.length < 2) yield* Effect.sleep("1 millis")
        yield* Fiber.interrupt(fiber)
        // The server could not send its body to the end, because nobody read it.
        while (resource.left() === before) yield* Effect.sleep("1 millis")
      }
    })
  })
}

layer(Clients.undici)("WebSource.fromUrl", (it) => {
  it.effect("refuses what is no URL of HTTP, and one with a credential, without repeating it", function* () {
    for (const url of ["secret", "file:///etc/passwd", "data:,secret", "http://user:secret@localhost/", "//secret"]) {
      const error = yield* Effect.flip(WebSource.fromUrl(url))
      assert.strictEqual(error.kind, "Unreadable")
      assert.notInclude(error.message, "secret")
    }
  })

  const etag = '"one"'
  const lies: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "no content-range": {},
    "an invalid content-range": { "content-range": "bytes 0-1999999" },
    "a content-range in other units": { "content-range": "lines 0-1999999/2000000" },
    "a content-range of endless numbers": { "content-range": `bytes 0-${"9".repeat(4000)}/2000000` },
    "another start": { "content-range": "bytes 1-1999999/2000000" },
    "another end": { "content-range": "bytes 0-2000000/2000000" },
    "an end before its start": { "content-range": "bytes 0--1/2000000" }
  }
  it.effect.each(Object.entries(lies))("refuses a range with %s", function* ([, headers]) {
    const { resource, source } = yield* described
    resource.meet = (_, response) => response.writeHead(206, { etag, ...headers }).end(bytes)
    const error = yield* failure(source)
    assert.strictEqual(error.kind, "Unreadable")
    assert.strictEqual(resource.requests.length, 2)
  })

  it.effect("refuses more bytes than the range has, the whole instead of a range, and other statuses", function* () {
    const range = { etag, "content-range": "bytes 0-1999999/2000000" }
    for (const [answer, problem] of [
      [HostileServer.text(206, new Uint8Array(2_000_001), range), "contradicts the Content-Range"],
      [HostileServer.chunked(206, "x".repeat(2_000_001), range), "more bytes"],
      [HostileServer.text(200, bytes, { etag }), "status 200, other bytes than the requested range"],
      [HostileServer.text(304, ""), "status 304"],
      [HostileServer.text(300, ""), "status 300"],
      [HostileServer.text(302, ""), "redirects"],
      [HostileServer.text(404, "gone"), "status 404"],
      [HostileServer.text(401, "who?"), "status 401"]
    ] as const) {
      const { resource, source } = yield* described
      resource.meet = (request, response) => answer(request, response)
      const error = yield* failure(source)
      assert.strictEqual(error.kind, "Unreadable")
      assert.include(error.message, problem)
      assert.strictEqual(resource.requests.length, 2)
    }
  })

  it.effect("asks again after a body that ends early, and gives up after the last retry", function* () {
    const { resource, source } = yield* described
    resource.meet = (_, response) =>
      void response.writeHead(206, { etag, "content-range": "bytes 0-1999999/2000000" }).end()
    const error = yield* failure(source).pipe(quick)
    assert.include(error.message, "the body ended after 0 of 2000000 bytes")
    assert.strictEqual(resource.requests.length, 2 + 3)
  })

  it.effect.each([
    ["with a length", HostileServer.text],
    ["without a length", HostileServer.chunked]
  ] as const)("a URL is no Replayable because of what a first response %s says wrong", function* ([, answer]) {
    for (const range of ["bytes 1-1/2000000", "bytes 0-5/2000000", "bytes 0-0/*", "bytes 0-0/0", "nonsense"]) {
      const server = yield* HostileServer.make
      server.script(answer(206, "x", { etag, "accept-ranges": "bytes", "content-range": range }))
      const source = yield* WebSource.fromUrl(server.baseUrl)
      assert.deepInclude(source, { _tag: "OneShot", size: undefined })
      // The same response to a request for all bytes is refused.
      assert.strictEqual((yield* failure(source)).kind, "Unreadable")
    }
  })

  it.effect("waits for no server without an end", function* () {
    const server = yield* HostileServer.make
    const brief = Effect.provideService(Tus.RequestTimeout, Duration.millis(50))
    server.script(HostileServer.silence)
    const silent = yield* Effect.flip(WebSource.fromUrl(server.baseUrl).pipe(brief))
    assert.include(silent.message, "no response from 127.0.0.1")
    server.script(HostileServer.chunked(200, "xx"), HostileServer.hanging(200))
    const source = yield* WebSource.fromUrl(server.baseUrl)
    if (source._tag !== "OneShot") return assert.fail(source._tag)
    const hung = yield* Effect.flip(Stream.runDrain(source.stream).pipe(brief))
    assert.include(hung.message, "no response from 127.0.0.1")
  })

  it.effect("does not read an endless body to describe a resource", function* () {
    const server = yield* HostileServer.make
    server.script(HostileServer.endless(200))
    const source = yield* WebSource.fromUrl(server.baseUrl)
    assert.deepInclude(source, { _tag: "OneShot", size: undefined })
  })
})

const some = Scene.content(100_000)

/** A resource that was described, and what is read of it. */
const make = Effect.gen(function* () {
  const resource = yield* WebResource.make(some)
  const source = yield* ranged(resource.url)
  return { resource, stream: source.bytes(0n, source.size) }
})

/** Retries, and notes what it is told. */
const noting = () => {
  const told: Array<readonly [tag: string, failures: number, wait: number | undefined]> = []
  const policy = Schedule.spaced("100 millis").pipe(
    Schedule.setInputType<RetryPolicy.Failure>(),
    Schedule.tap(({ input: { error, failures, wait } }) =>
      Effect.sync(() => told.push([error._tag, failures, Option.getOrUndefined(Option.map(wait, Duration.toSeconds))]))
    )
  )
  return { told, policy }
}

describe("WebSource.fromUrl after a failure", () => {
  test.live("asks again after 429 and each 5xx, with the pause that the server asks for", Clients.undici, function* () {
    const { resource, stream } = yield* make
    const { policy, told } = noting()
    const answers = [
      HostileServer.text(429, "", { "retry-after": "1" }),
      HostileServer.text(500, ""),
      HostileServer.text(503, "", { "retry-after": "0" })
    ]
    resource.meet = (request, response, go, index) => (answers[index - 1] ?? (() => go()))(request, response)
    const [time, sha256] = yield* Effect.timed(read(stream).pipe(RetryPolicy.withPolicy(policy)))
    assert.strictEqual(sha256, TusServer.sha256(some))
    // The pause of the server, and two of the policy.
    assert.isAtLeast(Duration.toMillis(time), 1200)
    assert.deepStrictEqual(told, [
      ["RateLimited", 1, 1],
      ["UnexpectedResponse", 2, undefined],
      ["UnexpectedResponse", 3, 0]
    ])
  })

  for (const [name, policy] of Object.entries({
    schedule: Schedule.recurs(1),
    policy: RetryPolicy.make({ retries: 1, base: "1 millis" })
  })) {
    test.live(`counts failures anew after new bytes, for a ${name} too`, Clients.undici, function* () {
      const { resource, stream } = yield* make
      resource.meet = (request, response, _, index) => {
        if (index % 2 === 1) HostileServer.text(503, "")(request, response)
        else less(some, 20_000)(request, response)
      }
      assert.strictEqual(yield* read(stream).pipe(RetryPolicy.withPolicy(policy)), TusServer.sha256(some))
      assert.strictEqual(resource.requests.length, 1 + 10)
    })
  }

  for (const [what, status, headers] of [
    ["was refused", 503, {}],
    ["stalled", 206, { etag: '"one"', "content-range": "bytes 0-99999/100000" }]
  ] as const) {
    test.live(`keeps no connection whose response ${what}`, Clients.undici, function* () {
      const { resource, stream } = yield* make
      const closed = yield* Deferred.make<void>()
      resource.meet = (_, response, go, index) => {
        if (index !== 1) return go()
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
        response.writeHead(status, headers)
        response.write(some.subarray(0, 10))
      }
      // The stream is not over, so nothing but the source itself frees the connection.
      const seen = stream.pipe(Stream.tap(() => (resource.requests.length < 3 ? Effect.void : Deferred.await(closed))))
      const { policy } = noting()
      yield* Stream.runDrain(seen).pipe(
        RetryPolicy.withPolicy(policy),
        Effect.provideService(Tus.RequestTimeout, Duration.millis(200))
      )
      assert.isAtLeast(resource.requests.length, 3)
    })
  }
})
