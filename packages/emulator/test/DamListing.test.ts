/** Tests that a walk through the list of assets returns each asset once, even if assets are changed during the walk. */
import { Dam } from "@assembly-effect/api"
import type { Identifier } from "@assembly-effect/schema"
import { Effect, Stream } from "effect"
import * as DamStore from "../src/internal/dam/damStore.ts"
import { layerStore, pathsOf, put, storeAll, storeOne } from "./assets.ts"
import { call } from "./signedCalls.ts"
import { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import { json, layer as layerEmulator, temporaryFolder } from "./support.ts"
import { assert, describe, effect, layer, live } from "@assembly-effect/testkit/flow"

/** The number of random walks. The environment variable `WALKS` changes the number. */
const walks = Number(process.env["WALKS"] ?? 60)

/** The expected path of each asset. */
type Model = Map<Identifier.AssetId, string>

const folders = ["", "a", "b", "a/c", "ab", "a/c/d"]
const joined = (folder: string, name: string) => (folder === "" ? name : `${folder}/${name}`)

/** Makes a random change of the assets. A refused change has no effect. */
const act = Effect.fnUntraced(function* (workspace: string, model: Model, draw: Draw) {
  const dam = yield* DamStore.make
  const known = [...model.keys()]
  const some = () => [...new Set(Array.from({ length: 1 + draw.below(3) }, () => draw.of(known)))]
  const name = `f${draw.below(40)}`
  const action = known.length < 30 ? "store" : draw.of(["store", "rename", "moveMany", "moveEntry", "delete"] as const)
  switch (action) {
    case "store": {
      const path = joined(draw.of(folders), name)
      const stored = yield* Effect.option(put(path, { workspace }))
      if (stored._tag === "Some") model.set(stored.value.id, path)
      return
    }
    case "rename":
      return yield* Effect.ignore(
        dam.move({ workspace, assetId: draw.of(known), filename: name, destinationFolderId: undefined })
      )
    case "moveMany": {
      const there = yield* dam.move({
        workspace,
        assetId: draw.of(known),
        filename: undefined,
        destinationFolderId: undefined
      })
      return yield* Effect.ignore(
        dam.moveMany({ workspace, assetIds: some(), destinationFolderId: draw.chance(0.3) ? null : there.folder_id })
      )
    }
    case "moveEntry":
      return yield* Effect.ignore(
        dam.moveEntry({
          workspace,
          source: draw.chance(0.5) ? draw.of(["a", "b", "ab", "a/c", "a/c/d"]) : (model.get(draw.of(known)) ?? ""),
          destination: joined(draw.of(folders), draw.of([name, "a", "c", "b"]))
        })
      )
    case "delete": {
      const ids = some()
      const done = yield* Effect.option(dam.remove(workspace, ids))
      if (done._tag === "Some") for (const id of ids) model.delete(id)
    }
  }
})

/** Reads the path of each asset again. */
const refresh = Effect.fnUntraced(function* (workspace: string, model: Model) {
  const dam = yield* DamStore.make
  for (const id of model.keys()) model.set(id, (yield* dam.get(workspace, id, undefined)).path)
})

describe("A walk through the list", () => {
  effect(`sees each asset that matches all the time exactly once (${walks} histories)`, layerStore(), function* () {
    let pages = 0
    let kept = 0
    let moved = 0
    const dam = yield* DamStore.make
    for (let walk = 0; walk < walks; walk++) {
      const draw = new Draw(`walk ${walk}`)
      const workspace = `walk ${walk}`
      const model: Model = new Map()
      for (let count = 0; count < 40; count++) yield* act(workspace, model, draw)
      yield* refresh(workspace, model)
      const prefix = draw.of(["", "a", "a/", "/a/c", "b/f", "ab/"])
      const matches = (path: string | undefined) => path?.startsWith(prefix.replace(/^\//, "")) === true
      const before = new Map(model)
      let always = new Set([...model.keys()].filter((id) => matches(model.get(id))))
      const seen: Array<Identifier.AssetId> = []
      let cursor: string | null | undefined
      while (cursor !== null) {
        const limit = 1 + draw.below(6)
        const page = yield* dam.list({ workspace, prefix, cursor, limit })
        pages++
        assert.isAtMost(page.assets.length, limit, `walk ${walk}`)
        for (const { id, path } of page.assets) {
          assert.strictEqual(path, model.get(id), `walk ${walk}`)
          assert.isTrue(matches(path), `walk ${walk}: ${path} under ${prefix}`)
          seen.push(id)
        }
        cursor = page.nextCursor
        for (let count = draw.below(5); count > 0; count--) yield* act(workspace, model, draw)
        yield* refresh(workspace, model)
        always = new Set([...always].filter((id) => matches(model.get(id))))
      }
      assert.strictEqual(new Set(seen).size, seen.length, `walk ${walk}: an asset twice`)
      for (const id of always) assert.include(seen, id, `walk ${walk}: ${model.get(id)} is missing`)
      kept += always.size
      moved += [...always].filter((id) => before.get(id) !== model.get(id)).length
    }
    // The random histories had enough pages and changes.
    assert.isAbove(pages, walks * 2)
    assert.isAbove(kept, walks)
    assert.isAbove(moved, walks / 2)
  })
  effect.each([
    [2, ["old/0", "old/1"]],
    [0, ["old/0"]]
  ] as const)(
    "has no asset that was stored since its first page, even if all but %i were deleted before that",
    layerStore(),
    function* ([kept, paths]) {
      const dam = yield* DamStore.make
      const stored: Array<Identifier.AssetId> = []
      for (let index = 0; index < 4; index++) stored.push((yield* put(`old/${index}`)).id)
      const first = yield* dam.list({ workspace: "main", prefix: "", cursor: undefined, limit: 1 })
      yield* dam.remove("main", stored.slice(kept))
      for (let index = 0; index < 3; index++) yield* put(`new/${index}`)
      const rest = yield* dam.list({ workspace: "main", prefix: "", cursor: first.nextCursor ?? "", limit: 10 })
      const found = [...first.assets, ...rest.assets].map(({ path }) => path)
      assert.deepStrictEqual(found, [...paths])
    }
  )
})

layer(layerEmulator())("The list over HTTP", (it) => {
  it.effect("has the assets of the prefix, oldest first, page by page, 100 by default", function* () {
    const names = Array.from({ length: 101 }, (_, index) => `${index}.txt`)
    yield* storeAll("pages", names)
    yield* storeOne("pages of another/file.txt")
    const expected = names.map((name) => `pages/${name}`)
    const pages = yield* Stream.runCollect(Dam.listPages({ prefix: "/pages/", limit: 40 }))
    assert.strictEqual(pages.map(({ assets }) => assets.length).join(), "40,40,21")
    assert.deepInclude(pages[0], { ok: "DAM_ASSETS_LISTED", workspace: "emulator" })
    assert.deepStrictEqual(pathsOf(pages.flatMap(({ assets }) => assets)), expected)
    for (const limit of [1, 7, 101, 500]) {
      const all = yield* Stream.runCollect(Dam.listAll({ prefix: "pages/", limit }))
      assert.deepStrictEqual(pathsOf(all), expected)
    }
    // The prefix is the beginning of a text, not a folder.
    assert.strictEqual((yield* Dam.list({ prefix: "pages", limit: 500 })).assets.length, 102)
    assert.strictEqual((yield* Dam.list({ prefix: "pages" })).assets.length, 100)
    assert.strictEqual((yield* Dam.list({ prefix: "pages/1" })).assets.length, 12)
    assert.deepStrictEqual((yield* Dam.list({ prefix: "nothing" })).assets, [])
    assert.isNull((yield* Dam.list({ prefix: "pages/", limit: 101 })).next_cursor)
    assert.strictEqual((yield* Dam.list({ prefix: "/" })).assets.length, (yield* Dam.list()).assets.length)
  })

  it.effect("finds a prefix in any normal form of Unicode", function* () {
    const id = yield* storeOne("cafe\u0301/file.txt")
    for (const prefix of ["cafe\u0301/", "café/", "caf"]) {
      const [asset, ...others] = (yield* Dam.list({ prefix })).assets
      assert.deepStrictEqual([asset?.asset_id, asset?.path, others], [id, "café/file.txt", []])
    }
  })

  it.effect("finds nothing for a prefix that no path has", function* () {
    yield* storeOne("smile \u{1f600}")
    yield* storeOne("__proto__/constructor")
    for (const prefix of ["//", "/../", "smile/", "smile\u0000", "smile \ud83d", "%", "smi%", "_".repeat(5000)]) {
      const answer = yield* call("GET", "/dam/assets", { prefix })
      assert.deepInclude(json(answer), { ok: "DAM_ASSETS_LISTED", assets: [], next_cursor: null }, prefix)
    }
    assert.strictEqual((yield* Dam.list({ prefix: "__proto__" })).assets.length, 1)
  })
})

layer(layerEmulator())("A cursor", (it) => {
  const first = Effect.gen(function* () {
    yield* storeAll("cursor", ["a", "b", "c"])
    const { next_cursor } = yield* Dam.list({ prefix: "cursor/", limit: 1 })
    return next_cursor ?? assert.fail("no cursor")
  })

  const refused = (answer: { readonly text: string }) =>
    assert.deepInclude(json(answer), {
      error: "DAM_INVALID_REQUEST",
      http_code: 400,
      message: "cursor: Expected a next_cursor of this list, with the same prefix"
    })

  it.effect("belongs to its prefix, in any of its forms; the limit may change", function* () {
    const cursor = yield* first
    const page = yield* Dam.list({ prefix: "/cursor/", cursor, limit: 500 })
    assert.deepStrictEqual(pathsOf(page.assets), ["cursor/b", "cursor/c"])
    for (const prefix of ["cursor", "cursor/a", "other/", "", undefined]) {
      const error = yield* Effect.flip(Dam.list({ cursor, ...(prefix === undefined ? {} : { prefix }) }))
      assert.deepInclude(error, { _tag: "DamInvalidRequest", status: 400 })
      assert.include(error.message, "cursor")
    }
  })

  it.effect("that was changed, cut or made up is refused with its name", function* () {
    const cursor = yield* first
    const bytes = Buffer.from(cursor, "base64url")
    const changed = Array.from(bytes, (_, index) => {
      const copy = Buffer.from(bytes)
      copy[index] = (copy[index] ?? 0) ^ 1
      return copy.toString("base64url")
    })
    const last = cursor.endsWith("A") ? "B" : "A"
    const written = [cursor.slice(1), `${cursor}A`, `${cursor}=`, ` ${cursor}`, cursor.slice(0, -1) + last]
    const madeUp = ["0", "null", "__proto__", "A".repeat(43), "A".repeat(5000), "\ud800"]
    for (const one of [...changed, ...written, ...madeUp]) {
      refused(yield* call("GET", "/dam/assets", { prefix: "cursor/", cursor: one }))
    }
  })
})

live("a cursor goes on after a restart with the same data", function* () {
  const data = yield* temporaryFolder
  const started = <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.provide(work, layerEmulator({ data }))
  const cursor = yield* started(
    Effect.gen(function* () {
      const ids = yield* storeAll("kept", ["a", "b", "c", "d"])
      yield* Dam.delete(ids[2])
      const page = yield* Dam.list({ prefix: "kept/", limit: 1 })
      assert.deepStrictEqual(pathsOf(page.assets), ["kept/a"])
      return page.next_cursor ?? assert.fail("no cursor")
    })
  )
  const rest = yield* started(Stream.runCollect(Dam.listAll({ prefix: "kept/", cursor, limit: 1 })))
  assert.deepStrictEqual(pathsOf(rest), ["kept/b", "kept/d"])
})
