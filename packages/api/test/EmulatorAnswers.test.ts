/**
 * Runs the operations against the emulator, with every response that it gives to a client with validated input.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Dam from "@assembly-effect/api/Dam"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { AssetId, FolderId } from "@assembly-effect/schema/Identifier"
import { Upload, UploadSource, UploadTarget } from "@assembly-effect/tus"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as Undici from "@effect/platform-node/NodeHttpClient"
import { assert, describe, layer } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"

const clientOf = (options?: { readonly secret: Redacted.Redacted }) =>
  Client.signed(options).pipe(Layer.provide(RetryPolicy.layerNone))

const live = Layer.merge(clientOf(), Upload.layer).pipe(
  Layer.provideMerge(Layer.merge(Emulator.layer(), Undici.layerUndici))
)

const handle = { ":original": { robot: "/upload/handle" } }
const fromDate = DateTime.makeUnsafe("2026-01-01T00:00:00Z")

/** Uploads a text as an asset at `path`, and waits until it is stored. */
const store = Effect.fnUntraced(function* (path: string) {
  const assembly = yield* Assemblies.create({
    steps: { ...handle, stored: { use: ":original", robot: "/transloadit/store", path } },
    numExpectedUploadFiles: 1
  })
  const target = yield* UploadTarget.fromAssembly(assembly)
  const source = UploadSource.fromBytes(new TextEncoder().encode(path))
  yield* Upload.run(target, source, { metadata: { filename: "a.txt", fieldname: "file" } })
  const { results } = yield* Assemblies.awaitCompletion(AssemblyId.make(assembly.assembly_id), {
    interval: "10 millis"
  })
  return AssetId.make(results?.["stored"]?.[0]?.asset_id ?? "")
})

describe("against the emulator", () => {
  layer(live, { excludeTestServices: true })((it) => {
    it.effect("statistics counts created Assemblies, and fails with StatisticsInvalidTime for an invalid time", () =>
      Effect.gen(function* () {
        const since = DateTime.subtract(yield* DateTime.now, { hours: 1 })
        const before = yield* Assemblies.statistics({ region: "all", since })
        yield* Assemblies.create({ steps: handle })
        const after = yield* Assemblies.statistics({ region: "all", since })
        assert.isAbove(after.totalAssemblies, before.totalAssemblies)
        const error = yield* Effect.flip(Assemblies.statistics({ region: "all", since: "gibberish" }))
        assert.deepInclude(error, { _tag: "StatisticsInvalidTime", status: 400 })
      })
    )

    it.effect("listAll yields the entries that list returns, in the same order", () =>
      Effect.gen(function* () {
        yield* Effect.replicateEffect(Assemblies.create({ steps: handle }), 5)
        const whole = yield* Assemblies.list({ fromDate, pageSize: 5000 })
        const entries = yield* Stream.runCollect(Assemblies.listAll({ fromDate, pageSize: 2 }))
        assert.deepStrictEqual(
          Array.from(entries, ({ id }) => id),
          whole.items.map(({ id }) => id)
        )
      })
    )

    it.effect("get returns a created Assembly, and fails with ServiceFailure and the id for an unknown one", () =>
      Effect.gen(function* () {
        const created = yield* Assemblies.create({ steps: handle, numExpectedUploadFiles: 1 })
        const id = AssemblyId.make(created.assembly_id)
        assert.strictEqual((yield* Assemblies.get(id)).assembly_id, id)
        const unknown = AssemblyId.make("f".repeat(32))
        const error = yield* Effect.flip(Assemblies.get(unknown))
        assert.deepInclude(error, { _tag: "ServiceFailure", status: 404, assemblyId: unknown })
      })
    )

    it.effect("watch ends with the Status that awaitCompletion returns", () =>
      Effect.gen(function* () {
        const { assembly_id } = yield* Assemblies.create({ steps: handle })
        const id = AssemblyId.make(assembly_id)
        const statuses = yield* Stream.runCollect(Assemblies.watch(id, { interval: "10 millis" }))
        assert.deepStrictEqual(Array.from(statuses).at(-1), yield* Assemblies.awaitCompletion(id))
      })
    )

    it.effect("move renames and moves an asset, and fails with its own errors for 404, 409 and 400", () =>
      Effect.gen(function* () {
        const asset = yield* store("/docs/one.txt")
        const other = yield* store("/docs/two.txt")
        const renamed = yield* Dam.move(asset, { filename: "three.txt" })
        assert.strictEqual(renamed.path, "docs/three.txt")
        const rooted = yield* Dam.move(asset, { destinationFolderId: null })
        assert.deepStrictEqual([rooted.path, rooted.folder_id], ["three.txt", null])

        const unknown = AssetId.make("AAAAAAAAAAAAAAAAAAAAAA")
        const folder = FolderId.make("AAAAAAAAAAAAAAAAAAAAAA")
        const refusals = [
          [Dam.move(unknown, { filename: "x" }), "DamResourceNotFound", 404],
          [Dam.move(asset, { destinationFolderId: folder }), "DamResourceNotFound", 404],
          [Dam.move(other, { destinationFolderId: null, filename: "three.txt" }), "DamMutationConflict", 409],
          // 255 characters of 4 bytes and the folder before them exceed 1024 bytes.
          [Dam.move(other, { filename: "😀".repeat(255) }), "DamInvalidRequest", 400]
        ] as const
        for (const [move, tag, status] of refusals) {
          assert.deepInclude(yield* Effect.flip(move), { _tag: tag, status })
        }
      })
    )

    it.effect("a wrong Auth Secret fails with AuthenticationFailed, which does not contain it", () =>
      Effect.gen(function* () {
        const secret = "not-the-secret-of-this-key"
        const error = yield* Effect.flip(
          Assemblies.list({ fromDate }).pipe(Effect.provide(clientOf({ secret: Redacted.make(secret) })))
        )
        assert.deepInclude(error, { _tag: "AuthenticationFailed", code: "INVALID_SIGNATURE" })
        assert.notInclude(JSON.stringify(error), secret)
      })
    )
  })
})
