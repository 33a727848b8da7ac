import { Assemblies } from "@assembly-effect/api"
import * as Templates from "@assembly-effect/api/Templates"
import { DateTime, Duration, Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import * as TemplateStore from "../src/internal/templates/templates.ts"
import { as, north, south, workspaces } from "./keys.ts"
import { call } from "./signedCalls.ts"
import { layerData } from "./stores.ts"
import { layer as layerEmulator, inDatabase, storeAt, uploadOne, temporaryFolder } from "./support.ts"
import { assert, effect, layer, live } from "@assembly-effect/testkit/flow"

const steps = { hashed: { robot: "/file/hash", use: ":original" } }

layer(layerEmulator({ workspaces }))("Templates", (it) => {
  it.effect("have settings that a change keeps unless it names them", function* () {
    const created = yield* Templates.create({
      name: "settings",
      template: { steps },
      requireSignatureAuth: true,
      transcodingResultExpiry: "1day"
    })
    const settings = { require_signature_auth: true, assembly_status_expiry: null, transcoding_result_expiry: "1day" }
    assert.deepInclude(created, { name: "settings", ...settings })
    const changed = yield* Templates.update("settings", { assemblyStatusExpiry: "NoSave" })
    assert.deepInclude(changed, { id: created.id, ...settings, assembly_status_expiry: "NoSave" })
    assert.deepStrictEqual(changed.content.steps as object, steps)
    const emptied = yield* Templates.update(created.id, { template: {}, requireSignatureAuth: false })
    assert.deepStrictEqual(emptied.content, {})
    const found = yield* Templates.get(created.id)
    assert.deepInclude(found, { require_signature_auth: false, assembly_status_expiry: "NoSave" })
    const { said } = yield* call("GET", `/templates/${created.id}`)
    assert.deepInclude(said, { require_signature_auth: 0, transcoding_result_expiry: "1day" })
    yield* Templates.delete(created.id)
  })

  it.effect("with a broken text, or Steps that break a rule, are neither created nor changed", function* () {
    const { id } = yield* Templates.create({ name: "kept", template: { steps } })
    for (const [template, message] of [
      ["{", "template: Expected an object or JSON text"],
      ['{"steps":{":original":{"robot":"/file/hash"}}}', "template.steps.:original.robot: Expected /upload/handle, "]
    ] as const) {
      for (const [method, path] of [
        ["POST", "/templates"],
        ["PUT", `/templates/${id}`]
      ] as const) {
        const { said } = yield* call(method, path, { name: "new", template })
        assert.deepInclude(said, { error: "TEMPLATE_VALIDATION_ERROR", http_code: 400 })
        assert.include(said["message"], message)
      }
    }
    const [kept, ...others] = (yield* Templates.list()).items
    assert.deepStrictEqual([kept?.name, kept?.content?.steps, others], ["kept", steps as never, []])
    yield* Templates.delete(id)
  })

  it.effect("with a long name in any script are found by it", function* () {
    const name = `${"語".repeat(250)}/ä%2F`
    const { id } = yield* Templates.create({ name, template: {} })
    assert.strictEqual((yield* Templates.get(name)).id, id)
    assert.strictEqual((yield* Templates.delete(name)).ok, "TEMPLATE_DELETED")
  })

  it.effect("are listed with their last use, and not by invalid params", function* () {
    const start = DateTime.startOf(yield* DateTime.now, "second")
    const used = yield* Templates.create({ name: "used", template: { steps } })
    const unused = yield* Templates.create({ name: "unused", template: {} })
    const names = (query: Parameters<typeof Templates.list>[0]) =>
      Effect.map(Templates.list(query), ({ items }) => items.map(({ name }) => name))
    assert.isNull((yield* Templates.list()).items[0]?.last_used)
    yield* Assemblies.create({ templateId: used.id })
    const byUse = yield* Templates.list({ sort: "last_used", order: "desc" })
    const [first, second] = byUse.items
    assert.deepStrictEqual([first?.name, second?.name, second?.last_used], ["used", "unused", null])
    assert(DateTime.isDateTime(first?.last_used) && DateTime.isGreaterThanOrEqualTo(first.last_used, start))
    assert.deepStrictEqual(yield* names({ sort: "last_used", order: "asc" }), ["unused", "used"])
    assert.deepStrictEqual(yield* names({ sort: "name", order: "asc", pageSize: 1, page: 2 }), ["used"])
    assert.deepStrictEqual(yield* names({ keywords: ["/file/HASH"] }), ["used"])
    assert.deepStrictEqual(yield* names({ toDate: DateTime.subtract(start, { hours: 1 }) }), [])

    for (const includeBuiltin of ["all", "latest", "none"] as const) {
      assert.strictEqual((yield* Templates.list({ includeBuiltin })).count, 2)
    }
    for (const includeBuiltin of ["exclusively-all", "exclusively-latest"] as const) {
      assert.deepStrictEqual(yield* Templates.list({ includeBuiltin }), { count: 0, items: [] })
    }
    const { said } = yield* call("GET", "/templates", { pagesize: 5001, sort: "content", include_builtin: "some" })
    assert.deepInclude(said, { error: "TEMPLATE_LIST_ERROR", http_code: 400 })
    assert.match(String(said["message"]), /pagesize: .*sort: .*include_builtin: /)
    const tooMany = yield* Effect.flip(Templates.list({ keywords: Array.from({ length: 21 }, () => "a") }))
    assert.deepInclude(tooMany, { _tag: "TemplateListFailed", status: 400 })
    for (const { id } of [used, unused]) yield* Templates.delete(id)
  })

  it.effect("are named by their id, also if another one has this id as its name", function* () {
    const first = yield* Templates.create({ name: "first", template: {} })
    const second = yield* Templates.create({ name: first.id, template: { steps } })
    assert.strictEqual((yield* Templates.get(first.id)).name, "first")
    assert.strictEqual((yield* Templates.update(first.id, { requireSignatureAuth: true })).id, first.id)
    yield* Templates.delete(first.id)
    // The Template with this id is deleted, so the text now names the other Template.
    assert.strictEqual((yield* Templates.get(first.id)).id, second.id)
    yield* Templates.delete(second.id)
  })

  it.effect("belong to their Workspace", function* () {
    const { id } = yield* Templates.create({ name: "own", template: {} })
    const foreign = as(south)
    assert.deepStrictEqual((yield* foreign(Templates.list())).items, [])
    for (const method of ["GET", "PUT", "DELETE"] as const) {
      const params = method === "PUT" ? { name: "stolen" } : {}
      for (const name of ["own", id]) {
        const { said } = yield* call(method, `/templates/${name}`, params, south)
        assert.deepInclude(said, { error: "TEMPLATE_NOT_FOUND" })
      }
    }
    const again = Templates.create({ name: "own", template: {} })
    assert.strictEqual((yield* foreign(again)).name, "own")
    assert.deepInclude(yield* Effect.flip(again), { _tag: "TemplateInvalid", status: 400 })
    assert.strictEqual((yield* Templates.get("own")).id, id)
    yield* Templates.delete(id)
  })
})

layer(layerEmulator())("A replay", (it) => {
  it.effect("changes Steps of the original Assembly, and keeps their other options and the other Steps", function* () {
    const original = yield* uploadOne({ steps: { ...storeAt("first.txt"), ...steps } }, new Uint8Array(1))
    const { assembly_id } = yield* Assemblies.replay(original.assembly_id, {
      steps: { stored: { path: "second.txt" } }
    })
    const { ok, results } = yield* Assemblies.get(assembly_id)
    assert.strictEqual(ok, "ASSEMBLY_COMPLETED")
    assert.strictEqual(results?.["stored"]?.[0]?.path, "second.txt")
    assert.sameMembers(Object.keys(results ?? {}), [":original", "stored", "hashed"])
  })
})

effect("concurrent changes of one keep each other", layerData(), function* () {
  const store = yield* TemplateStore.make
  const times = { created_at: 0, modified_at: 0 }
  yield* store.put({ ...TemplateStore.defaults, ...times, id: "one", workspace: "main", name: "one", content: {} })
  const change = (settings: Partial<TemplateStore.Row>) =>
    store.change("main", "one", (row) => Effect.as(Effect.yieldNow, { ...row, ...settings }))
  const changes = [change({ require_signature_auth: true }), change({ assembly_status_expiry: "1day" })]
  yield* Effect.all(changes, { concurrency: "unbounded" })
  const found = yield* store.byId("main", "one")
  assert.deepInclude(found, { require_signature_auth: true, assembly_status_expiry: "1day" })
})

effect("show their times, and are listed by their creation", layerEmulator({ credentials: north }), function* () {
  yield* TestClock.adjust("1 day")
  const start = yield* DateTime.now
  const first = yield* Templates.create({ name: "first", template: {} })
  yield* TestClock.adjust("1 second")
  yield* Templates.create({ name: "second", template: {} })
  yield* TestClock.adjust("1 second")
  yield* Templates.update(first.id, { template: { steps } })
  const times = Effect.fnUntraced(function* (query: Parameters<typeof Templates.list>[0]) {
    const { items } = yield* Templates.list(query)
    return items.map(({ created, modified, name }) =>
      [name, created, modified].map((value) =>
        DateTime.isDateTime(value) ? DateTime.distance(start, value).pipe(Duration.toSeconds) : value
      )
    )
  })
  const [one, two] = [
    ["first", 0, 2],
    ["second", 1, 1]
  ]
  assert.deepStrictEqual(yield* times({}), [two, one])
  assert.deepStrictEqual(yield* times({ sort: "modified", order: "desc" }), [one, two])
})

live("outlive the process, and old content that breaks a rule stays readable", function* () {
  const data = yield* temporaryFolder
  const run = <A, E>(program: Effect.Effect<A, E, Layer.Success<ReturnType<typeof layerEmulator>>>) =>
    Effect.provide(program, layerEmulator({ data }))
  const { id } = yield* run(Templates.create({ name: "kept", template: { steps }, requireSignatureAuth: true }))
  const found = yield* run(Templates.get("kept"))
  assert.deepInclude(found, { id, require_signature_auth: true })
  assert.deepStrictEqual(found.content.steps as object, steps)

  const old = { steps: { a: { robot: "/file/hash", use: "a" } } }
  inDatabase(data, "UPDATE templates SET content = ?", JSON.stringify(old))
  const renamed = yield* run(Templates.update(id, { name: "old" }))
  assert.deepStrictEqual([renamed.name, renamed.content as object], ["old", old])
})
