import { Assemblies, type AssemblyClient, Dam } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Identifier } from "@assembly-effect/schema"
import { DateTime, Effect, Layer, Schema } from "effect"
import { as, given, north, reader, south, withReader as workspaces } from "./keys.ts"
import { call } from "./signedCalls.ts"
import { encoded, layer as layerEmulator, listed, inDatabase, storeAt, uploadOne, temporaryFolder } from "./support.ts"
import { assert, layer, live } from "@assembly-effect/testkit/flow"

/** Stores a file in the Workspace of the client. */
const store = Effect.fnUntraced(function* (path: string) {
  const status = yield* uploadOne({ steps: storeAt(path) }, encoded(path))
  const file = status.results?.["stored"]?.[0]
  return { workspace: file?.workspace, assetId: Schema.decodeUnknownSync(Identifier.AssetId)(file?.asset_id) }
})

const counted = Effect.gen(function* () {
  const since = DateTime.subtract(yield* DateTime.now, { hours: 1 })
  return yield* Assemblies.statistics({ region: "all", since })
})

layer(layerEmulator({ workspaces }))("Workspaces", (it) => {
  it.effect("the first one, and its first Auth Key, are those of the emulator", function* () {
    const { credentials, workspace } = yield* Emulator.Emulator
    assert.strictEqual(workspace, "north")
    assert.strictEqual(credentials.key, north.key)
    assert.strictEqual((yield* store("first.txt")).workspace, "north")
  })

  it.effect("no operation of the DAM reaches an asset or a folder of another one", function* () {
    const own = yield* as(north)(store("apart/own.txt"))
    const foreign = yield* as(south)(store("apart/foreign.txt"))
    yield* as(south)(store("apart/second.txt"))
    const paths = Effect.map(Dam.list({ prefix: "apart/" }), ({ assets }) => assets.map(({ path }) => path))
    const page = yield* as(south)(Dam.list({ prefix: "apart/", limit: 1 }))
    const { asset } = yield* as(south)(Dam.get(foreign.assetId))
    const { folder_id } = yield* as(south)(Dam.move(foreign.assetId, { filename: "foreign.txt" }))
    const [first, second] = [own.assetId, foreign.assetId]
    const asked: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string }, AssemblyClient.AssemblyClient>> = [
      Dam.get(second),
      Dam.get(first, { versionId: asset.version_id }),
      Dam.get(second, { versionId: asset.version_id }),
      Dam.move(second, { filename: "taken.txt" }),
      Dam.move(first, { destinationFolderId: folder_id }),
      Dam.delete(second),
      Dam.deleteMany({ assetIds: [first, second] }),
      Dam.moveMany({ assetIds: [first, second], destinationFolderId: null }),
      Dam.moveMany({ assetIds: [first], destinationFolderId: folder_id }),
      Dam.moveEntry({ source: "apart/foreign.txt", destination: "mine.txt" })
    ]
    for (const ask of asked) {
      assert.strictEqual((yield* Effect.flip(as(north)(ask)))._tag, "DamResourceNotFound")
    }
    const cursor = page.next_cursor ?? assert.fail("no cursor")
    const error = yield* Effect.flip(as(north)(Dam.list({ prefix: "apart/", cursor })))
    assert.deepInclude(error, { _tag: "DamInvalidRequest", status: 400 })
    // Equal paths in two Workspaces do not conflict. The move of a folder changes only its Workspace.
    yield* as(north)(Dam.moveEntry({ source: "apart", destination: "away" }))
    assert.lengthOf((yield* as(north)(Dam.list({ prefix: "away/" }))).assets, 1)
    assert.deepStrictEqual(yield* as(north)(paths), [])
    assert.deepStrictEqual(yield* as(south)(paths), ["apart/foreign.txt", "apart/second.txt"])
  })

  it.effect("at the root, the names of another one are free, and its entries are not there", function* () {
    // The root of each Workspace has the same id: null.
    const foreign = yield* as(south)(store("an asset"))
    yield* as(south)(store("a folder/asset"))
    for (const source of ["an asset", "a folder", "a folder/asset"]) {
      const error = yield* Effect.flip(as(north)(Dam.moveEntry({ source, destination: "mine" })))
      assert.strictEqual(error._tag, "DamResourceNotFound")
    }
    const { assetId } = yield* as(north)(store("free.txt"))
    for (const name of ["an asset", "a folder"]) {
      const moved = yield* as(north)(Dam.move(assetId, { filename: name }))
      assert.strictEqual(moved.path, name)
      yield* as(north)(Dam.moveEntry({ source: name, destination: "free.txt" }))
      assert.strictEqual((yield* as(north)(Dam.get(assetId))).asset.path, "free.txt")
    }
    // A file with the path of an asset of another Workspace becomes a new asset, not a version of that asset.
    const own = yield* as(north)(store("an asset"))
    assert.notStrictEqual(own.assetId, foreign.assetId)
    assert.strictEqual(own.workspace, "north")
    assert.strictEqual((yield* as(south)(Dam.get(foreign.assetId))).asset.path, "an asset")
  })

  it.effect("list and statistics know their own Assemblies only", function* () {
    const ofNorth = yield* as(north)(Assemblies.create({}))
    const ofSouth = yield* as(south)(Assemblies.create({}))
    const seen = { north: yield* as(north)(listed), reader: yield* as(reader)(listed), south: yield* as(south)(listed) }
    assert.deepStrictEqual(seen.reader, seen.north)
    assert.include(seen.north, ofNorth.assembly_id)
    assert.include(seen.south, ofSouth.assembly_id)
    assert.isEmpty(seen.north.filter((id) => seen.south.includes(id)))
    // This Assembly makes the counts of the Workspaces different.
    yield* as(south)(Assemblies.create({}))
    for (const workspace of [north, south]) {
      const { totalAssemblies } = yield* as(workspace)(counted)
      assert.strictEqual(totalAssemblies, (yield* as(workspace)(listed)).length)
    }
  })

  it.effect("an Assembly of another one cannot be replayed, nor its notification", function* () {
    const { assembly_id: id } = yield* as(south)(Assemblies.create({}))
    for (const path of ["/assemblies", "/assembly_notifications"]) {
      const { said } = yield* call("POST", `${path}/${id}/replay`, { notify_url: "http://127.0.0.1:9/nobody" }, north)
      assert.deepInclude(said, { error: "ASSEMBLY_NOT_FOUND" })
    }
    assert.strictEqual((yield* as(south)(Assemblies.replay(id))).ok, "ASSEMBLY_REPLAYING")
  })
})

live("a folder of data keeps them, and credentials come first", function* () {
  const data = yield* temporaryFolder
  const named = (options: Emulator.Options) =>
    Effect.provide(
      Effect.map(Emulator.Emulator, ({ credentials, workspace }) => [workspace, credentials.key]),
      layerEmulator({ data, ...options })
    )
  assert.deepStrictEqual(yield* named({ workspaces, credentials: given("other") }), ["north", "other"])
  assert.deepStrictEqual(yield* named({ workspaces }), ["north", "north"])
  assert.deepStrictEqual(yield* named({ workspaces: [{ slug: "south", keys: [] }] }), ["south", "south"])
  // An Auth Key that the options no longer contain stays.
  yield* as(north)(listed).pipe(Effect.provide(layerEmulator({ data })))
})

live("a key acts for one Workspace", function* () {
  const data = yield* temporaryFolder
  const refused = (options: Emulator.Options) => Effect.flip(Effect.scoped(Layer.build(Emulator.layer(options))))
  const twice = ["one", "two"].map((slug) => ({ slug, keys: [north] }))
  const error = { _tag: "KeyInTwoWorkspaces", key: "north", workspaces: ["one", "two"] } as const
  assert.deepInclude<object>(yield* refused({ workspaces: twice }), error)
  // An Auth Key in the data folder belongs to only one Workspace, too.
  yield* Effect.scoped(Layer.build(Emulator.layer({ data, workspaces })))
  const moved = yield* refused({ data, workspaces: [{ slug: "south", keys: [north] }] })
  assert.deepInclude(moved, { _tag: "KeyInTwoWorkspaces", workspaces: ["north", "south"] })
  // If the options contain an Auth Key twice for one Workspace, the first one counts.
  const limited = layerEmulator({ credentials: { ...north, scopes: ["assemblies:read"] }, workspaces })
  const unscoped = yield* Effect.flip(Assemblies.create({})).pipe(Effect.provide(limited))
  assert.deepInclude(unscoped, { code: "INSUFFICIENT_AUTH_SCOPE" })
})
live("a start that fails leaves the data as they were", function* () {
  const data = yield* temporaryFolder
  const start = (options: Emulator.Options) => Effect.exit(Effect.scoped(Layer.build(Emulator.layer(options))))
  yield* start({ data, credentials: north })
  const template = (id: string, name: string) => ({ id, name, content: {} })
  for (const templates of [
    [template("one", "one"), template("all", "all")],
    [template("one", "same"), template("two", "same")]
  ]) {
    const refused = yield* start({ data, credentials: south, templates })
    assert.include(String(refused), "InvalidRequest")
  }
  const keys = inDatabase(data, "SELECT key FROM auth_keys")
  const kept = inDatabase(data, "SELECT id FROM templates")
  assert.deepStrictEqual([keys.map(({ key }) => key), kept], [[north.key], []])
})
