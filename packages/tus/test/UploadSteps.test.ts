/**
 * The steps of an upload, as a host takes them that keeps the state itself and may end between any two.
 */
import type * as Upload from "@assembly-effect/tus/Upload"
import * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadSteps from "@assembly-effect/tus/UploadSteps"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type { Fault } from "./utils/Fault.ts"
import * as Scene from "./utils/Scene.ts"
import * as TusServer from "./utils/TusServer.ts"

const large = Scene.content(700_000)
const small = Scene.content(1000)
const marker = "job-17"
const options = { ...Scene.options, marker }
const cut: Fault = { _tag: "Cut", method: "PATCH", bytes: 300_000 }
const dead = { ...Scene.options, maxRetries: 0 }

const start = Effect.fnUntraced(function* (bytes: Uint8Array, faults: ReadonlyArray<Fault> = []) {
  const { server, target } = yield* Scene.make(faults)
  return { server, target, source: UploadSource.fromBytes(bytes), sha256: TusServer.sha256(bytes) }
})

/** What a later process knows of an upload: not where its bytes stand. */
const kept = ({ marker: own, url }: UploadSteps.Existing): UploadSteps.Existing => ({ marker: own, url })

layer(NodeHttpClient.layerUndici, { excludeTestServices: true })("The steps of an upload", (it) => {
  it.effect("create it with the given marker, and send its bytes", () =>
    Effect.gen(function* () {
      const { server, sha256, source, target } = yield* start(large)
      const upload = yield* UploadSteps.create(target, source, options)
      assert.strictEqual(upload.marker, marker)
      assert.strictEqual(server.created[0]?.metadata["upload_marker"], marker)
      assert.deepStrictEqual(server.requests, ["POST"])
      const { length, url } = yield* UploadSteps.finish(target, source, upload, Scene.options)
      assert.strictEqual(length, 700_000n)
      assert.strictEqual(Redacted.value(url), Redacted.value(upload.url))
      assert.deepStrictEqual(server.requests, ["POST", "PATCH"])
      assert.strictEqual(yield* Scene.stored(server), sha256)
    })
  )

  it.effect("tell Progress as rarely as the options say, in the span of an upload", () =>
    Effect.gen(function* () {
      const { source, target } = yield* start(large)
      const upload = yield* UploadSteps.create(target, source, options)
      const spans: Array<string> = []
      const tracer = Tracer.make({
        span: (begun) => {
          spans.push(begun.name)
          return new Tracer.NativeSpan(begun)
        }
      })
      const events = yield* Stream.runCollect(
        UploadSteps.finishEvents(target, source, upload, {
          ...Scene.options,
          chunkSize: 50_000,
          progressInterval: "1 hour"
        })
      ).pipe(Effect.provideService(Tracer.Tracer, tracer))
      // The first one, and the newest before Finishing and Completed; each of 14 requests would tell two.
      assert.strictEqual(events.filter(UploadEvent.$is("Progress")).length, 3)
      assert.include(spans, "UploadSteps")
    })
  )

  it.effect("are checked before there is a source, and tell which errors pass", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(UploadSteps.issues(Scene.options), [])
      const [issue] = UploadSteps.issues({ ...Scene.options, maxRetries: -1 })
      assert.deepStrictEqual(issue?.path, ["maxRetries"])
      const { source, target } = yield* start(large, [cut])
      const upload = yield* UploadSteps.create(target, source, options)
      const lost = yield* Effect.flip(UploadSteps.finish(target, source, upload, dead))
      const unknown = yield* Effect.flip(UploadSteps.recover(target, source, { ...options, marker: "job-18" }))
      assert.deepStrictEqual([lost._tag, unknown._tag], ["TransportFailure", "CreationUnknown"])
      assert.isTrue(UploadSteps.isTemporary(lost))
      assert.isTrue(UploadSteps.isTemporary(unknown))
      const refused = yield* Effect.flip(UploadSteps.create(target, source, { ...options, marker: "" }))
      assert.isFalse(UploadSteps.isTemporary(refused))
    })
  )

  it.effect("bring a small source with the creation, after which nothing is sent", () =>
    Effect.gen(function* () {
      const { server, sha256, source, target } = yield* start(small)
      const upload = yield* UploadSteps.create(target, source, options)
      const found = yield* UploadSteps.recover(target, source, options)
      server.requests.length = 0
      for (const existing of [upload, found]) {
        assert.strictEqual((yield* UploadSteps.finish(target, source, existing, Scene.options)).length, 1000n)
      }
      assert.deepStrictEqual(server.requests, [])
      assert.strictEqual(yield* Scene.stored(server), sha256)
    })
  )

  it.effect("find it by the marker, and send what the server does not have", () =>
    Effect.gen(function* () {
      // A busy server may have stored nothing of a request that is cut, so the cut comes after an acknowledged one.
      const { server, sha256, source, target } = yield* start(large, [
        { _tag: "SlowAnswer", method: "PATCH", millis: 0 },
        { ...cut, bytes: 20_000 }
      ])
      const upload = yield* UploadSteps.create(target, source, options)
      const error = yield* Effect.flip(UploadSteps.finish(target, source, upload, { ...dead, chunkSize: 300_000 }))
      assert.strictEqual(error._tag, "TransportFailure")
      const found = yield* UploadSteps.recover(target, source, options)
      assert.strictEqual(Redacted.value(found.url), Redacted.value(upload.url))
      assert.notProperty(found, "transfer")
      const events = yield* Stream.runCollect(UploadSteps.finishEvents(target, source, found, Scene.options))
      const resumed = events.find(UploadEvent.$is("Resumed"))
      assert.isAtLeast(Number(resumed?.offset), 300_000)
      assert.strictEqual(events.at(-1)?._tag, "Completed")
      assert.strictEqual(server.created.length, 1)
      assert.strictEqual(yield* Scene.stored(server), sha256)
    })
  )

  it.effect("create nothing to find an upload of which no receipt tells", () =>
    Effect.gen(function* () {
      const { server, source, target } = yield* start(large)
      const error = yield* Effect.flip(UploadSteps.recover(target, source, { ...options, checksum: "sha256" }))
      assert.strictEqual(error._tag, "CreationUnknown")
      assert.strictEqual(server.created.length, 0)
      assert.deepStrictEqual([...new Set(server.requests)], ["GET"])
    })
  )

  it.effect("send nothing to an upload that has another marker, or other metadata", () =>
    Effect.gen(function* () {
      const { server, source, target } = yield* start(large)
      const upload = kept(yield* UploadSteps.create(target, source, options))
      server.requests.length = 0
      const others: ReadonlyArray<readonly [UploadSteps.Existing, Upload.Options]> = [
        [{ ...upload, marker: "job-18" }, Scene.options],
        [upload, { ...Scene.options, metadata: { ...Scene.options.metadata, filename: "b.bin" } }]
      ]
      for (const [existing, other] of others) {
        const error = yield* Effect.flip(UploadSteps.finish(target, source, existing, other))
        assert.deepInclude(error, { _tag: "UploadMismatch", field: "upload-metadata" })
      }
      assert.deepStrictEqual(server.requests, ["HEAD", "HEAD"])
    })
  )

  it.effect("can be finished again", () =>
    Effect.gen(function* () {
      const { server, sha256, source, target } = yield* start(large)
      const upload = yield* UploadSteps.create(target, source, options)
      yield* UploadSteps.finish(target, source, upload, Scene.options)
      server.requests.length = 0
      const again = yield* UploadSteps.finish(target, source, kept(upload), Scene.options)
      assert.strictEqual(again.length, 700_000n)
      assert.notInclude(server.requests, "PATCH")
      assert.strictEqual(yield* Scene.stored(server), sha256)
    })
  )

  it.effect("refuse an empty marker with everything else that is wrong, and send nothing", () =>
    Effect.gen(function* () {
      const { server, source, target } = yield* start(large)
      for (const step of [UploadSteps.create, UploadSteps.recover]) {
        const error = yield* Effect.flip(step(target, source, { ...options, marker: "", maxRetries: -1 }))
        if (error._tag !== "InvalidRequest") return assert.fail(error._tag)
        assert.deepStrictEqual(
          error.issues.map(({ path }) => path.join(".")),
          ["maxRetries", "marker"]
        )
      }
      assert.deepStrictEqual(server.requests, [])
    })
  )
})
