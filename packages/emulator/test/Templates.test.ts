import { Assemblies } from "@assembly-effect/api"
import { Emulator, type Template } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { DateTime, Effect, Layer } from "effect"
import * as Templates from "@assembly-effect/api/Templates"
import { createUpload, layer as layerEmulator, storeAt, uploadOne, temporaryFolder } from "./support.ts"
import { post } from "./signedCalls.ts"
import { assert, layer, live } from "@assembly-effect/testkit/flow"

const bytes = new Uint8Array(100)

const templates: ReadonlyArray<Template.Template> = [
  {
    id: "open",
    name: "archive",
    content: { steps: storeAt("archive/${fields.year}/${file.name}"), fields: { year: 1 } }
  },
  { id: "closed", content: { steps: storeAt("closed.txt"), allow_steps_override: false } },
  { id: "small", content: { auth: { max_size: 10 } } },
  { id: "broken", content: { steps: { fail: { robot: "/emulator/fail" } }, notify_url: null } }
]

const stored = (status: Assembly.Status) => status.results?.["stored"]?.[0]?.path

layer(layerEmulator({ templates }))("A Template", (it) => {
  it.effect("has the Steps of an Assembly that names it, and fields for it", function* () {
    const status = yield* uploadOne({ templateId: "open" }, bytes)
    assert.deepInclude(status, { ok: "ASSEMBLY_COMPLETED", template_id: "open" })
    assert.strictEqual(stored(status), "archive/1/a file.txt")
    const other = yield* uploadOne({ templateId: "open", fields: { year: "2026" } }, bytes)
    assert.strictEqual(stored(other), "archive/2026/a file.txt")
    assert.deepStrictEqual(other["fields"], { year: "2026" })
  })

  it.effect("is merged with what the request says, key by key", function* () {
    const path = { stored: { robot: "/transloadit/store", path: "other.txt" } }
    const status = yield* uploadOne({ templateId: "open", steps: path }, bytes)
    assert.strictEqual(stored(status), "other.txt")
    assert.deepStrictEqual(Object.keys(status.results ?? {}), [":original", "stored"])
    // The Step of the Template fails, although the request adds a second Step.
    const failed = yield* Assemblies.create({ templateId: "broken", steps: { hash: { robot: "/file/hash" } } })
    assert.strictEqual(failed.error, "INTERNAL_COMMAND_ERROR")
    const changed = { fail: { robot: "/emulator/fail", error: "MINE" } }
    assert.strictEqual((yield* Assemblies.create({ templateId: "broken", steps: changed })).error, "MINE")
  })

  it.effect("limits uploads by its max_size", function* () {
    const next = yield* Assemblies.create({ templateId: "small", numExpectedUploadFiles: 1 })
    assert.strictEqual((yield* createUpload(next, { "upload-length": "11" })).status, 413)
    assert.strictEqual((yield* Assemblies.get(next.assembly_id)).error, "MAX_SIZE_EXCEEDED")
  })

  it.effect("is what statistics and the list tell Assemblies by", function* () {
    const { assembly_id } = yield* Assemblies.create({ templateId: "open", fields: { mark: "by template" } })
    const since = DateTime.subtract(yield* DateTime.now, { hours: 1 })
    const counts = Effect.forEach([{ templateId: "open" }, { templateId: "closed" }, {}], (of) =>
      Effect.map(Assemblies.statistics({ region: "all", since, ...of }), ({ totalAssemblies }) => totalAssemblies)
    )
    const [open = 0, ...others] = yield* counts
    yield* Assemblies.create({ templateId: "open" })
    assert.deepStrictEqual(yield* counts, [open + 1, ...others])
    const fromDate = DateTime.startOf(since, "second")
    const [item, ...more] = (yield* Assemblies.list({ fromDate, keywords: ["by template"] })).items
    assert.deepInclude(item, { id: assembly_id, template_id: "open", template_name: "archive" })
    assert.isEmpty(more)
  })

  it.effect("may come as a text, and has to keep its rules", function* () {
    const steps = { fail: { robot: "/emulator/fail", error: "TEXT" } }
    const { said } = yield* post("/templates", { name: "as-a-text", template: JSON.stringify({ steps }) })
    assert.strictEqual((yield* Assemblies.create({ templateId: String(said["id"]) })).error, "TEXT")
    const wrong = [{ name: "wrong" }, { name: "wrong", template: "{" }, { name: "wrong", template: { steps: 1 } }]
    for (const params of wrong) {
      const { said: refused } = yield* post("/templates", params)
      assert.deepInclude(refused, { error: "TEMPLATE_VALIDATION_ERROR", http_code: 400 })
    }
  })

  it.effect("is read again by a replay that asks for it, or for another", function* () {
    const edit = (error: string) =>
      Templates.update("broken", { template: { steps: { fail: { robot: "/emulator/fail", error } } } })
    yield* edit("FIRST")
    const original = yield* Assemblies.create({ templateId: "broken" })
    yield* edit("SECOND")
    const replay = Effect.fnUntraced(function* (params: object) {
      const { said } = yield* post(`/assemblies/${original.assembly_id}/replay`, params)
      const { assembly_id, error } = said
      return error ?? (yield* Assemblies.get(Assembly.AssemblyId.make(String(assembly_id))))
    })
    assert.deepInclude(yield* replay({}), { error: "FIRST", template_id: "broken" })
    assert.deepInclude(yield* replay({ reparse_template: 0 }), { error: "FIRST" })
    assert.deepInclude(yield* replay({ reparse_template: 1 }), { error: "SECOND", template_id: "broken" })
    assert.deepInclude(yield* replay({ template_id: "closed" }), { ok: "ASSEMBLY_COMPLETED", template_id: "closed" })
    assert.strictEqual(yield* replay({ template_id: "nowhere" }), "TEMPLATE_NOT_FOUND")
  })
})

const flipped = (options: Emulator.Options) => Effect.flip(Effect.scoped(Layer.build(Emulator.layer(options))))

live("one that breaks a rule keeps the emulator from starting", function* () {
  const reserved = yield* flipped({ templates: [{ id: "no_template", content: {} }] })
  assert.include(reserved.message, "templates.0.id: Expected an id that is not reserved for statistics")
  const twice = ["one", "two"].map((id) => ({ id, name: "name", content: {} }))
  assert.include(
    (yield* flipped({ templates: twice })).message,
    "templates.two.name: Another Template has the name name"
  )
  const content = JSON.parse('{"steps":{"a":{"robot":""}}}')
  assert.deepInclude(yield* flipped({ templates: [{ id: "empty", content }] }), { _tag: "InvalidRequest" })
})

live("belongs to its Workspace, and outlives the process", function* () {
  const data = yield* temporaryFolder
  const error = (options: Emulator.Options) =>
    Assemblies.create({ templateId: "one" }).pipe(
      Effect.map((status) => status.error),
      Effect.catchTag("ServiceFailure", ({ code }) => Effect.succeed(code)),
      Effect.provide(layerEmulator({ data, ...options }))
    )
  const failing = (code: string) => ({
    id: "one",
    content: { steps: { fail: { robot: "/emulator/fail", error: code } } }
  })
  assert.strictEqual(yield* error({ templates: [failing("FIRST")] }), "FIRST")
  assert.strictEqual(yield* error({}), "FIRST")
  assert.strictEqual(yield* error({ workspaces: [{ slug: "other", keys: [] }] }), "TEMPLATE_NOT_FOUND")
  assert.strictEqual(yield* error({ templates: [failing("SECOND")] }), "SECOND")
})
