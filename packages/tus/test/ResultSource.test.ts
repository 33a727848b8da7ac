/** Results of an Assembly as sources of the next. */
import * as Results from "@assembly-effect/api/Results"
import { RetryPolicy } from "@assembly-effect/api"
import { UploadSource, WebSource } from "@assembly-effect/tus"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Effect, Stream } from "effect"
import { createHash } from "node:crypto"
import { AssemblyUpload, Clients, Emulated, Scene, Tests, TusServer, WebResource } from "./utils/index.ts"

const bytes = Scene.content(2_000_000)
const md5hash = createHash("md5").update(bytes).digest("hex")
const size = bytes.length

const quick = RetryPolicy.withPolicy(RetryPolicy.make({ retries: 3, base: "1 millis" }))

const read = (stream: Stream.Stream<Uint8Array, UploadSource.SourceFailed>) =>
  Effect.map(Stream.mkUint8Array(quick(stream)), TusServer.sha256)

/** A result on a server, and the lines of its requests. */
const result = Effect.gen(function* () {
  const resource = yield* WebResource.make(bytes)
  const source = yield* WebSource.fromResult({ id: "1", ssl_url: resource.url, size, md5hash })
  return { resource, source, lines: () => resource.requests.splice(0).map(({ line }) => line) }
})

const clients = { undici: Clients.undici, fetch: Clients.fetch }

for (const [name, client] of Object.entries(clients)) {
  layer(client)(`WebSource.fromResult with ${name}`, (it) => {
    it.effect("reads any range, and compares the MD5 before the last bytes", function* () {
      const { lines, source } = yield* result
      assert.strictEqual(yield* source.identity, `md5 ${md5hash} 2000000`)
      for (const [start, end, requests] of [
        [0, size, ["GET all"]],
        [0, 0, []],
        [777, 1_500_001, ["GET bytes=777-"]],
        // The whole result was read before, so its MD5 is known.
        [1_999_999, size, ["GET bytes=1999999-"]],
        [size, size, []]
      ] as const) {
        const expected = TusServer.sha256(bytes.subarray(start, end))
        assert.strictEqual(yield* read(source.bytes(BigInt(start), BigInt(end))), expected, `${start} to ${end}`)
        assert.deepStrictEqual(lines(), [...requests])
      }
    })

    it.effect("reads the result once more for its MD5 if a run begins in the middle", function* () {
      const { lines, source } = yield* result
      yield* read(source.bytes(1_000_000n, BigInt(size)))
      assert.deepStrictEqual(lines(), ["GET bytes=1000000-", "GET all"])
    })

    it.effect("requests the rest after a lost connection", function* () {
      const { lines, resource, source } = yield* result
      resource.meet = (_, __, go, index) => go(index < 2 ? 600_000 : undefined)
      assert.strictEqual(yield* read(source.bytes(0n, BigInt(size))), TusServer.sha256(bytes))
      const [first, ...others] = lines()
      assert.strictEqual(first, "GET all")
      assert.lengthOf(others, 2)
      for (const line of others) assert.match(line, /^GET bytes=[1-9]\d*-$/)
    })

    it.effect.each([0, 1_000_000])(
      "a result that has changed is SourceFailed before its last bytes, from byte %s",
      function* (start) {
        const { resource, source } = yield* result
        resource.bytes = bytes.map((byte, index) => (index === 1_234_567 ? byte ^ 1 : byte))
        let count = start
        const error = yield* source.bytes(BigInt(start), BigInt(size)).pipe(
          Stream.runForEach(({ length }) => Effect.sync(() => void (count += length))),
          Effect.flip
        )
        assert.deepInclude(error, { _tag: "SourceFailed", kind: "Changed" })
        assert.isBelow(count, size)
      }
    )

    it.effect("a result without a URL or a size in its Status is SourceFailed, and nothing is requested", function* () {
      const { lines, resource } = yield* result
      const { url } = resource
      for (const file of [{ ssl_url: url }, { size }, { ssl_url: "", size }, { ssl_url: url, size: null }]) {
        const error = yield* Effect.flip(WebSource.fromResult(file))
        assert.deepInclude(error, { _tag: "SourceFailed", kind: "Unreadable" })
      }
      assert.deepStrictEqual(lines(), [])
    })
  })
}

layer(Emulated.live)("A job with a result as its file", (it) => {
  it.effect.each([
    ["in one request", {}],
    ["in parts", { upload: { parallel: 2 } }],
    ["in a form", { transport: "form" }]
  ] as const)("uploads identical bytes, %s", function* ([, options]) {
    const params = { steps: { ":original": { robot: "/upload/handle" } } }
    const wait = { interval: "5 millis" } as const
    const file = { source: UploadSource.fromBytes(bytes), filename: "a.bin" }
    const first = yield* AssemblyUpload.run({ params, files: [file], wait })
    const [made] = Results.of(first).get(":original") ?? []
    const source = WebSource.fromResult(made ?? assert.fail("no result"))
    const second = yield* AssemblyUpload.run({ params, files: [{ source, filename: "b.bin" }], wait, ...options })
    assert.deepStrictEqual(Tests.pluck(second.uploads, "sha256"), [TusServer.sha256(bytes)])
  })
})
