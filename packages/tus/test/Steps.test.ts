/**
 * The steps of an upload, as a host takes them that keeps the state itself and may end between any two.
 */
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Steps from "@assembly-effect/tus/unstable/Steps"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Fault } from "./utils/Fault.ts"
import * as Scene from "./utils/Scene.ts"
import * as TusServer from "./utils/TusServer.ts"
import type * as Upload from "./utils/Upload.ts"

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
const kept = ({ marker: own, url }: Steps.Existing): Steps.Existing => ({ marker: own, url })

layer(NodeHttpClient.layerUndici, { excludeTestServices: true })("The steps of an upload", (it) => {
  it.effect("create it with the given marker, and send its bytes", () =>
    Effect.gen(function* () {
      const { server, sha256, source, target } = yield* start(large)
      const upload = yield* Steps.create(target, source, options)
      assert.strictEqual(upload.marker, marker)
      assert.strictEqual(server.created[0]?.metadata["upload_marker"], marker)
      assert.deepStrictEqual(server.requests, ["POST"])
      const { length, url } = yield* Steps.finish(target, source, upload, Scene.options)
      assert.strictEqual(length, 700_000n)
      assert.strictEqual(Redacted.value(url), Redacted.value(upload.url))
      assert.deepStrictEqual(server.requests, ["POST", "PATCH"])
      assert.strictEqual(yield* Scene.stored(server), sha256)
    })
  )

  it.effect("are checked before there is a source, and tell which errors pass", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(Steps.issues(Scene.options), [])
      const [issue] = Steps.issues({ ...Scene.options, maxRetries: -1 })
      assert.deepStrictEqual(issue?.path, ["maxRetries"])
      const { source, target } = yield* start(large, [cut])
      const upload = yield* Steps.create(target, source, options)
      const lost = yield* Effect.flip(Steps.finish(target, source, upload, dead))
      const unknown = yield* Effect.flip(Steps.recover(target, source, { ...options, marker: "job-18" }))
      assert.deepStrictEqual([lost._tag, unknown._tag], ["TransportFailure", "CreationUnknown"])
      assert.isTrue(Steps.isTemporary(lost))
      assert.isTrue(Steps.isTemporary(unknown))
      const refused = yield* Effect.flip(Steps.create(target, source, { ...options, maxRetries: -1 }))
      assert.isFalse(Steps.isTemporary(refused))
    })
  )

  it.effect("bring a small source with the creation, after which nothing is sent", () =>
    Effect.gen(function* () {
      const { server, sha256, source, target } = yield* start(small)
      const upload = yield* Steps.create(target, source, options)
      const found = yield* Steps.recover(target, source, options)
      server.requests.length = 0
      for (const existing of [upload, found]) {
        assert.strictEqual((yield* Steps.finish(target, source, existing, Scene.options)).length, 1000n)
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
      const upload = yield* Steps.create(target, source, options)
      const error = yield* Effect.flip(Steps.finish(target, source, upload, { ...dead, chunkSize: 300_000 }))
      assert.strictEqual(error._tag, "TransportFailure")
      const found = yield* Steps.recover(target, source, options)
      assert.strictEqual(Redacted.value(found.url), Redacted.value(upload.url))
      assert.notProperty(found, "transfer")
      assert.strictEqual((yield* Steps.finish(target, source, found, Scene.options)).length, 700_000n)
      assert.strictEqual(server.created.length, 1)
      assert.strictEqual(yield* Scene.stored(server), sha256)
    })
  )

  it.effect("create nothing to find an upload of which no receipt tells", () =>
    Effect.gen(function* () {
      const { server, source, target } = yield* start(large)
      const error = yield* Effect.flip(Steps.recover(target, source, { ...options, checksum: "sha256" }))
      assert.strictEqual(error._tag, "CreationUnknown")
      assert.strictEqual(server.created.length, 0)
      assert.deepStrictEqual([...new Set(server.requests)], ["GET"])
    })
  )

  it.effect("send nothing to an upload that has another marker, or other metadata", () =>
    Effect.gen(function* () {
      const { server, source, target } = yield* start(large)
      const upload = kept(yield* Steps.create(target, source, options))
      server.requests.length = 0
      const others: ReadonlyArray<readonly [Steps.Existing, Upload.Options]> = [
        [{ ...upload, marker: "job-18" }, Scene.options],
        [upload, { ...Scene.options, metadata: { ...Scene.options.metadata, filename: "b.bin" } }]
      ]
      for (const [existing, other] of others) {
        const error = yield* Effect.flip(Steps.finish(target, source, existing, other))
        assert.deepInclude(error, { _tag: "UploadMismatch", field: "upload-metadata" })
      }
      assert.deepStrictEqual(server.requests, ["HEAD", "HEAD"])
    })
  )

  it.effect("can be finished again", () =>
    Effect.gen(function* () {
      const { server, sha256, source, target } = yield* start(large)
      const upload = yield* Steps.create(target, source, options)
      yield* Steps.finish(target, source, upload, Scene.options)
      server.requests.length = 0
      const again = yield* Steps.finish(target, source, kept(upload), Scene.options)
      assert.strictEqual(again.length, 700_000n)
      assert.notInclude(server.requests, "PATCH")
      assert.strictEqual(yield* Scene.stored(server), sha256)
    })
  )
})
