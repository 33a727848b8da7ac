import * as Undici from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { Assembly } from "@assembly-effect/schema"
import { Deferred, Duration, Effect, Fiber, Option, Schedule, Schema, Stream, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"
import { AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as Results from "@assembly-effect/api/Results"
import { clients } from "./utils/clients.ts"
import * as FileServer from "./utils/FileServer.ts"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

const strong: FileServer.Kind = { validator: "strong etag", hasRanges: true }
const bytes = FileServer.bytesOf(100_000, 1)
const flipped = bytes.map((byte) => byte ^ 1)
const md5hash = FileServer.hash("md5", bytes)

type Options = Parameters<typeof Results.download>[1]

const collect = (file: Assembly.File, options?: Options) =>
  Results.download(file, options).pipe(
    Stream.runCollect,
    Effect.map((pieces) => Buffer.concat(pieces))
  )

const retried = RetryPolicy.withPolicy(Schedule.recurs(5))

/** Downloads from a server with these responses. */
const against = Effect.fnUntraced(function* (
  answers: ReadonlyArray<Server.Answer>,
  file: Assembly.File = {},
  options?: Options
) {
  const { server, url } = yield* FileServer.make(answers)
  const run = retried(collect({ name: "file.bin", ssl_url: url, ...file }, options))
  return { server, url, run }
})

const raw =
  (status: number, headers: Readonly<Record<string, string | number>>, body: Uint8Array | string): Server.Answer =>
  (_, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }

const redirect = (location: string, status = 302): Server.Answer => raw(status, { location, "content-length": 0 }, "")

const etag = `"${md5hash}"`
const part = (range: string, body: Uint8Array | string) => raw(206, { etag, "content-range": range }, body)

const half = FileServer.answer(bytes, strong, { cutAfter: 50_000 })

test("Results.of returns the valid files of each Step; Results.downloadable returns those that have a URL", () => {
  const status = Schema.decodeUnknownSync(Assembly.Status)({
    assembly_id: "0".repeat(32),
    results: {
      resized: [
        { name: "small.jpg", size: 3, meta: { width: 10 }, ssl_url: "https://example.com/small.jpg" },
        7,
        { name: "lost.jpg", ssl_url: "", url: null },
        { name: "large.jpg", url: "http://example.com/large.jpg" }
      ],
      broken: "no list",
      constructor: [{ id: "2", meta: "no object" }]
    }
  })
  const found = Results.of(status)
  assert.deepStrictEqual(Array.from(found.keys()), ["resized", "constructor"])
  assert.deepInclude(found.get("resized")?.[0], { name: "small.jpg", size: 3, meta: { width: 10 } })
  assert.deepStrictEqual(found.get("constructor"), [{ id: "2" }])
  assert.isUndefined(found.get("toString"))
  const some = Array.from(Results.downloadable(status), ([step, files]) => [step, files.map(({ name }) => name)])
  assert.deepStrictEqual(some, [["resized", ["small.jpg", "large.jpg"]]])
  for (const none of [{}, { results: null }]) {
    assert.deepStrictEqual([Results.of(none).size, Results.downloadable(none).size], [0, 0])
  }
})

for (const [name, client] of clients) {
  describe(`Results.download with ${name}`, () => {
    it.live("requests the file without a credential or trace, and accepts the MD5 of the Status", client, function* () {
      const { run, server } = yield* against([FileServer.answer(bytes, strong)], { size: 100_000, md5hash })
      const read = yield* run.pipe(
        Effect.withSpan("the application"),
        Effect.provideService(Tracer.DisablePropagation, false)
      )
      assert.isTrue(read.equals(bytes))
      const [request] = server.received
      const sent = Object.keys(request?.headers ?? {}).join(" ")
      assert.notMatch(sent, /auth|cookie|trace|b3|range|referer/)
      assert.strictEqual(request?.headers["accept-encoding"], "identity")
      assert.strictEqual(request?.query.get("signature"), "secret-of-the-url")
    })

    for (const [problem, answer] of Object.entries({
      "another ETag": FileServer.answer(flipped, strong),
      "no ETag any more": FileServer.answer(bytes, { ...strong, validator: "none" }),
      "another length": raw(200, { etag, "content-length": 3 }, "abc")
    } satisfies Record<string, Server.Answer>)) {
      it.live(`fails with ResultChanged if the response after a cut has ${problem}`, client, function* () {
        const first = FileServer.held(bytes, strong, 50_000)
        const { url } = yield* FileServer.make([first.answer, answer])
        const error = yield* Results.download({ ssl_url: url }).pipe(
          Stream.runForEach(() => Effect.sync(first.cut)),
          retried,
          Effect.flip
        )
        assert.strictEqual(error._tag, "ResultChanged")
        assert.notInclude(inspect(error, { depth: 9 }) + JSON.stringify(error), "secret-of-the-url")
      })
    }

    it.live("accepts another file if no byte of the first one has arrived", client, function* () {
      const other = flipped.subarray(1)
      const nothing = FileServer.answer(bytes, strong, { cutAfter: 0 })
      const { run } = yield* against([nothing, FileServer.answer(other, strong)])
      assert.isTrue((yield* run).equals(other))
    })

    const elsewhere = part("bytes 7-99999/100000", bytes.subarray(7))
    for (const [problem, expected, ...answers] of [
      ["a part that starts elsewhere", /starts at another byte/, half, elsewhere],
      ["a part without Content-Range", /without a valid Content-Range/, raw(206, { etag }, "x")],
      ["a multipart part", /without a valid Content-Range/, raw(206, { etag, "content-type": "multipart/x" }, "--x")],
      ["an impossible Content-Range", /not possible/, part("bytes 0-9/5", "0123456789")],
      ["a part with more bytes than its Content-Range", /more bytes than announced/, part("bytes 0-2/5", "abcd")],
      ["an encoded body", /content-encoding/, raw(200, { "content-encoding": "compress", "content-length": 3 }, "abc")],
      ["an unknown size", /whose size is unknown/, raw(200, {}, "abc")],
      ["an endless body of an unknown size", /whose size is unknown/, Server.endless(200)],
      ["another status", /status 404/, Server.text(404, "<Error/>")],
      ["a redirect without Location", /redirect without Location/, raw(302, {}, "")],
      ["a redirect to another scheme", /not https/, redirect("ftp://example.com/")],
      ["a redirect with user info", /user info/, redirect("http://user:pass@127.0.0.1/")],
      ["a redirect to http elsewhere", /not https/, redirect("http://example.com/file")],
      ["a redirect to itself", /more than 5 redirects/, redirect("")]
    ] satisfies ReadonlyArray<readonly [string, RegExp, ...ReadonlyArray<Server.Answer>]>) {
      it.live(`fails with UnexpectedResponse for ${problem}`, client, function* () {
        const error = yield* Effect.flip((yield* against(answers)).run)
        assert.strictEqual(error._tag, "UnexpectedResponse")
        assert.match(error.message, expected)
        assert.notInclude(inspect(error, { depth: 9 }), "secret-of-the-url")
      })
    }

    it.live("fails if the body has more bytes than the size in the Status, or no end", client, function* () {
      for (const answer of [raw(200, { "transfer-encoding": "chunked" }, "abcd"), Server.endless(200)]) {
        const { run } = yield* against([answer], { size: 3 })
        const error = yield* Effect.flip(run)
        assert.strictEqual(error.message.replace(/:\d+/, ""), "Results.download: status 200, more bytes than announced")
      }
    })

    it.live("fails with ResultMismatch for another size or another MD5 than in the Status", client, function* () {
      for (const [file, expected] of [
        [{ size: 99_999 }, { field: "size", expected: "99999", actual: "100000" }],
        [{ md5hash: "0".repeat(32) }, { field: "md5hash", expected: "0".repeat(32), actual: md5hash }]
      ] as const) {
        const { run, server } = yield* against([FileServer.answer(bytes, strong)], file)
        assert.deepInclude(yield* Effect.flip(run), { _tag: "ResultMismatch", file: "file.bin", ...expected })
        assert.strictEqual(server.received.length, 1)
      }
    })

    it.live("follows a redirect to another origin for each range again, without credentials", client, function* () {
      const store = yield* FileServer.make([half, FileServer.answer(bytes, strong)])
      const { run, server } = yield* against([redirect(store.url, 307)], { md5hash })
      assert.isTrue((yield* run).equals(bytes))
      assert.strictEqual(server.received.length, 2)
      assert.strictEqual(store.server.received.length, 2)
      const headers = store.server.received.flatMap((request) => Object.keys(request.headers))
      const seen = headers.filter((header) => /auth|cookie|referer|trace/.test(header))
      assert.deepStrictEqual(seen, [])
    })

    it.live("fails with ResultChanged if redirects lead to two files with one ETag", client, function* () {
      const other = FileServer.bytesOf(100_000, 2)
      const first = yield* FileServer.make([
        (_, response) => {
          response.writeHead(200, { etag, "content-length": 100_000 })
          response.write(bytes.subarray(0, 50_000), () => response.destroy())
        }
      ])
      const second = yield* FileServer.make([
        ({ headers }, response) => {
          const from = Number(/^bytes=(\d+)-$/.exec(String(headers["range"]))?.[1] ?? 0)
          const range = from === 0 ? {} : { "content-range": `bytes ${from}-99999/100000` }
          response.writeHead(from === 0 ? 200 : 206, { etag, "content-length": 100_000 - from, ...range })
          response.end(other.subarray(from))
        }
      ])
      const { run } = yield* against([redirect(first.url), redirect(second.url)])
      assert.deepInclude(yield* Effect.flip(run), { _tag: "ResultChanged", field: "content" })
    })

    const short = raw(200, { "transfer-encoding": "chunked" }, "ab")
    for (const [what, answer, size, message] of [
      ["no new byte", FileServer.answer(bytes, strong, { cutAfter: 0 }), null, ""],
      ["fewer bytes than the size in the Status", short, 3, "the body ended after 2 of 3 bytes"]
    ] as const) {
      it.live(`fails with TransportFailure after 5 retries with ${what}`, client, function* () {
        const { run, server } = yield* against([answer], { size })
        const error = yield* Effect.flip(run)
        assert.strictEqual(error._tag, "TransportFailure")
        assert.include(error.message, message)
        assert.strictEqual(server.received.length, 6)
      })
    }

    it.live("counts retries from zero again after new bytes", client, function* () {
      const first = part("bytes 0-9999/100000", bytes.subarray(0, 10_000))
      const next = FileServer.answer(bytes, strong, { most: 10_000 })
      const answers = [first, ...Array.from({ length: 9 }).flatMap(() => [Server.text(503, ""), next])]
      for (const policy of [Schedule.recurs(1), RetryPolicy.make({ retries: 1, base: "1 millis" })]) {
        const { url } = yield* FileServer.make(answers)
        const once = RetryPolicy.withPolicy(policy)
        assert.isTrue((yield* once(collect({ ssl_url: url }))).equals(bytes))
      }
    })

    it.live("closes its connection when the reader stops", client, function* () {
      const closed = yield* Deferred.make<void>()
      const { url } = yield* FileServer.make([
        (request, response) => {
          response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
          Server.endless(200)(request, response)
        }
      ])
      const first = yield* Stream.runHead(Results.download({ ssl_url: url, size: 2 ** 40 }))
      assert.isTrue(Option.isSome(first))
      yield* Deferred.await(closed)
    })
  })
}

describe("Results.download", () => {
  const live = Undici.layerUndici

  it.live("fails with InvalidRequest and the field of an invalid input", live, function* () {
    const issuesOf = (file: Assembly.File, options?: Options) =>
      Effect.map(Effect.flip(collect(file, options)), (error) =>
        error._tag === "InvalidRequest" ? error.issues.map(({ path }) => path.join(".")) : error._tag
      )
    const ssl_url = "https://example.com/"
    assert.deepStrictEqual(yield* issuesOf({}), ["ssl_url"])
    for (const size of [-1, 1.5, 2 ** 60, NaN]) assert.deepStrictEqual(yield* issuesOf({ ssl_url, size }), ["size"])
    for (const text of ["hello", md5hash.slice(1), `${md5hash}0`]) {
      assert.deepStrictEqual(yield* issuesOf({ ssl_url, md5hash: text }), ["md5hash"])
    }
    assert.deepStrictEqual(yield* issuesOf({ ssl_url: null, url: "" }), ["ssl_url"])
    const missing = yield* Effect.flip(collect({ name: "a.jpg" }))
    assert.strictEqual(
      missing.message,
      "Results.download: ssl_url: Expected a URL, got none: the Status has no URL for the file a.jpg, for example because no Step has exported it; `Results.downloadable` returns only files with a URL"
    )
    for (const url of [
      "http://example.com/",
      "ftp://example.com/",
      "https://user@example.com/",
      "https://example.com/a b",
      "//example.com/",
      "file:///etc/passwd"
    ]) {
      assert.deepStrictEqual(yield* issuesOf({ url }), ["url"], url)
    }
    assert.deepStrictEqual(yield* issuesOf({ ssl_url }, { stallTimeout: 0 }), ["stallTimeout"])
    assert.deepStrictEqual(yield* issuesOf({ ssl_url }, { maxBytes: -1 }), ["maxBytes"])
  })

  it.live("fails with InvalidRequest for http on loopback if the service is not on loopback", live, function* () {
    const { run, server } = yield* against([FileServer.answer(bytes, strong)])
    const error = yield* Effect.flip(Effect.provide(run, AssemblyClient.layerTest([])))
    assert.strictEqual(error._tag, "InvalidRequest")
    assert.strictEqual(server.received.length, 0)
    const here = AssemblyClient.layerTest([], { baseUrl: server.baseUrl })
    assert.isTrue((yield* Effect.provide(run, here)).equals(bytes))
  })

  it.live("fails with ResultTooLarge if the size in Status or response exceeds maxBytes", live, function* () {
    const declared = yield* against([FileServer.answer(bytes, strong)], { size: 100_000 }, { maxBytes: 99_999 })
    assert.deepInclude(yield* Effect.flip(declared.run), { _tag: "ResultTooLarge", size: 100_000, maxBytes: 99_999 })
    assert.strictEqual(declared.server.received.length, 0)
    const found = yield* against([FileServer.answer(bytes, strong)], {}, { maxBytes: 99_999 })
    assert.deepInclude(yield* Effect.flip(found.run), { _tag: "ResultTooLarge", size: 100_000 })
    const exact = yield* against([FileServer.answer(bytes, strong)], {}, { maxBytes: 100_000 })
    assert.isTrue((yield* exact.run).equals(bytes))
  })

  it.effect("fails with TimedOut if no byte comes within stallTimeout, but not for a slow reader", live, function* () {
    const { url } = yield* FileServer.make([Server.hanging(200, {}, "x".repeat(10))])
    const arrived = yield* Deferred.make<void>()
    const slow = Results.download({ ssl_url: url }, { stallTimeout: "5 seconds" }).pipe(
      RetryPolicy.none,
      Stream.runForEach(() => Effect.andThen(Deferred.succeed(arrived, undefined), Effect.sleep("1 hour")))
    )
    const fiber = yield* Effect.forkChild(Effect.flip(slow))
    yield* Deferred.await(arrived)
    yield* TestClock.adjust("1 hour")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("4999 millis")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    const error = yield* Fiber.join(fiber)
    assert.strictEqual(error._tag, "TimedOut")
    assert.strictEqual(Duration.toSeconds(error._tag === "TimedOut" ? error.after : 0), 5)
  })

  it.effect("fails with TimedOut if no response comes within the default stallTimeout", live, function* () {
    const requested = yield* Deferred.make<void>()
    const { url } = yield* FileServer.make([() => Deferred.doneUnsafe(requested, Effect.void)])
    const fiber = yield* Effect.forkChild(Effect.flip(RetryPolicy.none(collect({ ssl_url: url }))))
    yield* Deferred.await(requested)
    yield* TestClock.adjust("30 seconds")
    assert.strictEqual((yield* Fiber.join(fiber))._tag, "TimedOut")
  })
})
