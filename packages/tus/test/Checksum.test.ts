import { Tus, UploadSource } from "@assembly-effect/tus"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { assert, layer, Clients, type Fault, Scene, TusServer, Upload } from "./utils/index.ts"

const bytes = Scene.content(1_000_000)
const corrupt: Fault = { _tag: "Corrupt", method: "PATCH" }

/** An upload to a server that offers checksums, or none. */
const scene = Effect.fnUntraced(function* (
  source: UploadSource.UploadSource,
  options: Partial<Upload.Options>,
  faults: ReadonlyArray<Fault> = [],
  offered: ReadonlyArray<string> = ["sha1", "sha256"]
) {
  const { server, target } = yield* Scene.make(faults)
  server.checksums = offered
  return { server, target, run: Upload.run(target, source, { ...Scene.options, ...options }) }
})

layer(Clients.undici)("Checksums", (it) => {
  for (const [kind, source] of Object.entries(Scene.kinds(bytes, 70_001))) {
    for (const streams of [true, false]) {
      it.effect(`of ${kind}, streamed: ${streams}; changed bytes are sent again`, function* () {
        const { run, server } = yield* scene(source(), { checksum: "sha256", chunkSize: 300_000 }, [corrupt])
        yield* Effect.provideService(run, Upload.CanStream, streams)
        assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(bytes))
        assert.deepStrictEqual(server.faults, [])
        // Slices begin below a chunkSize; the tests of slices say how they grow.
        if (streams) assert.deepStrictEqual(server.verified, [300_000, 300_000, 300_000, 100_000])
        assert.isAtMost(Math.max(...server.verified), 300_000)
        assert.strictEqual(server.log.filter((line) => line === "PATCH 460").length, 1)
      })
    }
  }

  it.effect("bound what is in memory where no chunkSize does", function* () {
    const large = Scene.content(9 * 1024 * 1024)
    const { run, server } = yield* scene(UploadSource.fromBytes(large), { checksum: "sha1" })
    yield* run
    assert.deepStrictEqual(server.verified, [8 * 1024 * 1024, 1024 * 1024])
    assert.strictEqual(yield* Scene.stored(server), TusServer.sha256(large))
  })

  it.effect("protect small sources and parts too", function* () {
    const small = bytes.subarray(0, 10)
    const one = yield* scene(UploadSource.fromBytes(small), { checksum: "sha1" }, [corrupt])
    yield* one.run
    assert.deepStrictEqual(one.server.verified, [10])
    assert.strictEqual(yield* Scene.stored(one.server), TusServer.sha256(small))

    const large = Scene.content(3 * 1024 * 1024)
    const parts = yield* scene(UploadSource.fromBytes(large), { checksum: "sha1", parallel: 3 }, [corrupt, corrupt])
    yield* parts.run
    assert.strictEqual(parts.server.verified.length, 3)
    assert.strictEqual(yield* Scene.stored(parts.server, -1), TusServer.sha256(large))
  })

  it.effect("that never fit end in ChecksumMismatch", function* () {
    const { run } = yield* scene(
      UploadSource.fromBytes(bytes),
      { checksum: "sha1", maxRetries: 2 },
      Array.from({ length: 3 }, () => corrupt)
    )
    assert.deepInclude(yield* Effect.flip(run), { _tag: "ChecksumMismatch", status: 460 })
  })

  it.effect("are not sent where the server does not offer them, or not this one, or nobody asked", function* () {
    for (const [checksum, offered] of [
      ["sha256", []],
      ["sha512", ["sha1", "sha256"]],
      [undefined, ["sha1"]]
    ] as const) {
      const { run, server } = yield* scene(UploadSource.fromBytes(bytes), { checksum }, [], offered)
      yield* run
      assert.deepStrictEqual(server.verified, [])
      assert.strictEqual(server.log.includes("OPTIONS 204"), checksum !== undefined)
      assert.strictEqual(server.log.filter((line) => line === "PATCH 204").length, 1)
    }
  })

  it.effect("are asked for again when the answer was lost, before anything is created", function* () {
    const lost: Fault = { _tag: "Status", method: "OPTIONS", status: 503 }
    const healed = yield* scene(UploadSource.fromBytes(bytes), { checksum: "sha1" }, [lost])
    yield* healed.run
    assert.strictEqual(healed.server.verified.length, 1)
    const failed = yield* scene(UploadSource.fromBytes(bytes), { checksum: "sha1", maxRetries: 0 }, [lost])
    assert.strictEqual((yield* Effect.flip(failed.run))._tag, "ServerFailure")
    assert.deepStrictEqual(failed.server.created, [])
  })

  it.effect("of one request alone, through Tus", function* () {
    const { target } = yield* scene(UploadSource.fromBytes(bytes), {})
    const body = bytes.subarray(0, 10)
    const { url } = yield* Tus.create(target, { _tag: "Fixed", length: 10n, metadata: Scene.options.metadata })
    const digest = (text: Uint8Array) => `sha256 ${createHash("sha256").update(text).digest("base64")}`
    const wrong = Tus.append(url, { offset: 0n, body, checksum: digest(new Uint8Array(1)) })
    assert.deepInclude(yield* Effect.flip(wrong), { _tag: "ChecksumMismatch", request: "append" })
    assert.strictEqual(yield* Tus.append(url, { offset: 0n, body, checksum: digest(body) }), 10n)
  })
})
