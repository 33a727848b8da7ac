import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { DateTime, Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { encoded as text, json, layer as layerEmulator, send, storeAt, uploadOne } from "./support.ts"
import { call, post, signedFields } from "./signedCalls.ts"
import { assert, effect, layer } from "@assembly-effect/testkit/flow"

const fromDate = DateTime.makeUnsafe("2020-01-01T00:00:00Z")

layer(layerEmulator())("Assemblies", (it) => {
  it.effect("without uploads completes at once", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const status = yield* Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } } })
    assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
    assert.strictEqual(status.assembly_ssl_url, `${baseUrl}/assemblies/${status.assembly_id}`)
    assert.strictEqual(status.tus_url, `${baseUrl}/resumable/files/`)
    assert.deepStrictEqual(status.results, { ":original": [] })
  })

  it.effect("with uploads waits for them", function* () {
    const status = yield* Assemblies.create({ numExpectedUploadFiles: 2, fields: { colour: "red" } })
    assert.strictEqual(Assembly.state(status), "Busy")
    assert.strictEqual(status.expected_tus_uploads, 2)
    assert.deepStrictEqual(status["fields"], { colour: "red" })
    assert.deepStrictEqual(yield* Assemblies.get(status.assembly_id), status)
  })

  it.effect("takes an id once", function* () {
    const { assembly_id } = yield* Assemblies.create({})
    const again = yield* Effect.flip(Assemblies.create({ assemblyId: Assembly.AssemblyId.make(assembly_id) }))
    assert.strictEqual(again._tag === "ServiceFailure" && again.status, 409)
  })

  it.effect("stores what was uploaded", function* () {
    const { workspace } = yield* Emulator.Emulator
    const bytes = text("hello, world\n")
    const status = yield* uploadOne({ steps: storeAt("stored/${file.name}") }, bytes)
    const sha256 = createHash("sha256").update(bytes).digest("hex")
    const [upload] = status.uploads ?? []
    const [stored] = status.results?.["stored"] ?? []

    assert.strictEqual(status.ok, "ASSEMBLY_COMPLETED")
    const named = { name: "a file.txt", basename: "a file", ext: "txt", field: "file", mime: "text/plain" }
    assert.deepInclude(upload, { ...named, sha256, size: 13, user_meta: { mark: "ä" }, is_tus_file: true })
    assert.deepInclude(stored, { workspace, path: "stored/a file.txt", sha256, size: 13 })
    assert.match(String(stored?.asset_id), /^[A-Za-z0-9_-]{21}[AQgw]$/)
    assert.match(String(stored?.version_id), /^[A-Za-z0-9_-]{21}[AQgw]$/)
    assert.notStrictEqual<string | null | undefined>(stored?.asset_id, stored?.version_id)
  })

  it.effect.each([
    ["ASSEMBLY_STEP_UNKNOWN_ROBOT", { a: { robot: "/no/robot" } }],
    ["ASSEMBLY_STEP_UNKNOWN_USE", { a: { robot: "/upload/handle", use: "b" } }],
    ["ASSEMBLY_STEP_INVALID_USE", { a: { robot: "/upload/handle", use: [":original", 5] } }],
    ["ASSEMBLY_INFINITE", { a: { robot: "/upload/handle", use: "b" }, b: { robot: "/upload/handle", use: ["a"] } }]
  ] as const)("fails with %s before anything is uploaded", function* ([error, steps]) {
    // The request is raw, because the client of `@assembly-effect/api` refuses most of these Steps.
    const { said } = yield* post("/assemblies", { steps }, { num_expected_upload_files: "1" })
    assert.strictEqual(Assembly.state(said), "Failed")
    assert.strictEqual(said["error"], error)
  })

  it.effect("gives a Step the uploads and the files of another Step, if it uses both", function* () {
    const robot = "/upload/handle"
    for (const own of [{}, { ":original": { robot } }]) {
      const steps = { ...own, a: { robot }, both: { robot, use: [":original", "a"] } }
      const { results } = yield* uploadOne({ steps }, text("1"))
      assert.deepStrictEqual([results?.["a"]?.length, results?.["both"]?.length], [1, 2])
    }
  })

  it.effect("fails when a robot fails, and keeps its uploads", function* () {
    const status = yield* uploadOne({ steps: storeAt("a/../b") }, text("x"))
    assert.strictEqual(status.error, "INTERNAL_COMMAND_ERROR")
    assert.strictEqual(status.uploads?.length, 1)
  })

  it.effect("refuses a form that breaks a rule", function* () {
    const { said } = yield* post("/assemblies", {}, { num_expected_upload_files: "-1" })
    assert.deepStrictEqual(said, {
      error: "INVALID_FORM_DATA",
      http_code: 400,
      message: "num_expected_upload_files: Expected an integer of 0 to 9007199254740991"
    })
  })

  it.effect("answers a quiet creation with no more than its id and how it went", function* () {
    const create = (steps: object) => Effect.map(post("/assemblies", { quiet: true, steps }), ({ said }) => said)
    const done = yield* create({})
    assert.hasAllKeys(done, ["ok", "assembly_id"])
    assert.strictEqual((yield* Assemblies.get(Assembly.AssemblyId.make(String(done["assembly_id"])))).ok, done["ok"])
    assert.hasAllKeys(yield* create({ a: { robot: "/no/robot" } }), ["error", "message", "assembly_id"])
  })

  it.effect("puts fields of the form on top of those of the params, as the service does", function* () {
    const { said } = yield* post("/assemblies", { fields: { a: 1, b: 2 } }, { b: "form" })
    assert.deepStrictEqual(said["fields"], { a: 1, b: "form" })
  })

  it.effect("accepts the other name of the expected uploads, and keeps further fields", function* () {
    const form = { ...(yield* signedFields()), tus_num_expected_upload_files: "3", colour: "blue" }
    const answer = yield* send(HttpClientRequest.post("/assemblies").pipe(HttpClientRequest.bodyFormDataRecord(form)))
    assert.deepInclude(json(answer), { ok: "ASSEMBLY_UPLOADING", expected_tus_uploads: 3 })
    assert.deepStrictEqual(json(answer)["fields"], { colour: "blue" })
  })
})

layer(layerEmulator())("The list", (it) => {
  it.effect("is newest first, in pages, of a type, with keywords (spec R-11, O-9, O-10)", function* () {
    const completed = yield* Assemblies.create({ fields: { note: "Apple" } })
    const waiting = yield* Assemblies.create({ numExpectedUploadFiles: 1, notifyUrl: "https://apple.example/hook" })
    const failed = yield* Assemblies.create({ steps: { a: { robot: "/no/robot" } } })
    const newestFirst = [failed, waiting, completed].map(({ assembly_id }) => assembly_id)
    for (const [query, found] of [
      [{}, newestFirst],
      [{ page: 2, pageSize: 2 }, [completed.assembly_id]],
      [{ page: Number.MAX_SAFE_INTEGER }, []],
      [{ page: 0, pageSize: 1 }, [failed.assembly_id]],
      [{ type: "uploading" }, [waiting.assembly_id]],
      [{ type: "failed" }, [failed.assembly_id]],
      [{ keywords: ["APPLE"] }, [waiting.assembly_id, completed.assembly_id]],
      [{ keywords: ["apple", "note"] }, [completed.assembly_id]],
      [{ keywords: ["unknown_robot"] }, [failed.assembly_id]],
      [{ toDate: DateTime.makeUnsafe("2021-01-01T00:00:00Z") }, []],
      [{ fromDate: DateTime.makeUnsafe("2999-01-01T00:00:00Z") }, []]
    ] as const) {
      const { count, items } = yield* Assemblies.list({ fromDate, ...query })
      const seen = [count, items.map(({ id }) => String(id))]
      const all = "page" in query ? 3 : found.length
      assert.deepStrictEqual<unknown>(seen, [all, found], JSON.stringify(query))
    }
  })

  it.effect("answers every fault with its one error, and ignores unknown keys (spec O-19, E-11)", function* () {
    for (const params of [{}, { fromdate: "yesterday" }, { fromdate: "2026-01-01 00:00:00", pagesize: 5001 }]) {
      const answer = yield* call("GET", "/assemblies", params)
      assert.deepInclude(json(answer), { error: "ASSEMBLY_LIST_ERROR", http_code: 400 })
    }
    const known = yield* call("GET", "/assemblies", { fromdate: "2026-01-01 00:00:00", unknown: 1 })
    assert.strictEqual(known.status, 200)
  })
})

effect("the list finds all 45 Assemblies of one millisecond by a keyword", layerEmulator(), function* () {
  yield* TestClock.adjust("1 second")
  const created = yield* Effect.replicateEffect(Assemblies.create({ fields: { note: "apple" } }), 45)
  const { items } = yield* Assemblies.list({ fromDate: DateTime.makeUnsafe(0), keywords: ["apple"] })
  const [found, made] = [items.map(({ id }) => id), created.map(({ assembly_id }) => assembly_id)]
  assert.sameMembers(found, made)
})

layer(layerEmulator({ templates: [{ id: "template", content: {} }] }))("Statistics", (it) => {
  it.effect("count what happened (spec O-2)", function* () {
    yield* uploadOne({ steps: storeAt("counted.txt") }, text("12345"))
    yield* uploadOne({ templateId: "template" }, text("123"))
    yield* Assemblies.create({ steps: { a: { robot: "/no/robot" } } })
    const since = DateTime.subtract(yield* DateTime.now, { hours: 3 })

    const without = yield* Assemblies.statistics({ region: "all", since })
    assert.deepInclude(without, { totalAssemblies: 2, totalBytesUploaded: 5, totalOutputBytesProcessed: 5 })
    assert.deepInclude(without, { totalFilesProcessed: 2, totalOutputFilesProcessed: 1, totalUsage: 10 })
    assert.deepStrictEqual(without.errorStatsTotals, [
      { error: "ASSEMBLY_STEP_UNKNOWN_ROBOT", num_erroneous_assemblies: 1 }
    ])
    const successes = without.stats.reduce((sum, bucket) => sum + bucket.num_successful_assemblies, 0)
    assert.strictEqual(successes, 1)
    assert.isAtLeast(without.stats.length, 4)

    const ofTemplate = yield* Assemblies.statistics({ region: "all", since, templateId: "template" })
    assert.deepInclude(ofTemplate, { totalAssemblies: 1, totalBytesUploaded: 3 })
    for (const region of ["all", "eu-west-1"]) {
      assert.strictEqual((yield* Assemblies.statistics({ region, since, templateId: "all" })).totalAssemblies, 3)
    }
    const elsewhere = yield* Effect.flip(Assemblies.statistics({ region: "elsewhere", since, templateId: "all" }))
    assert.deepInclude(elsewhere, { _tag: "StatisticsMissingRegion", status: 400 })
  })

  it.effect("check the region before the time (spec E-8, E-9, L-1)", function* () {
    const code = (params: object) =>
      Effect.map(call("GET", "/assembly_stats", params), (answer) => json(answer)["error"])
    const tooFar = DateTime.formatIso(DateTime.subtract(yield* DateTime.now, { days: 92 }))
    const recent = DateTime.formatIso(yield* DateTime.now)
    assert.strictEqual(yield* code({}), "ASSEMBLY_STATS_MISSING_REGION")
    assert.strictEqual(yield* code({ region: "", since: recent }), "ASSEMBLY_STATS_MISSING_REGION")
    assert.strictEqual(yield* code({ region: "elsewhere", since: tooFar }), "ASSEMBLY_STATS_MISSING_REGION")
    assert.strictEqual(yield* code({ region: "all" }), "ASSEMBLY_STATS_INVALID_TIME")
    assert.strictEqual(yield* code({ region: "all", since: "no date" }), "ASSEMBLY_STATS_INVALID_TIME")
    assert.strictEqual(yield* code({ region: "all", since: tooFar }), "ASSEMBLY_STATS_INVALID_TIME")
    assert.strictEqual(yield* code({ region: "all", since: recent, more: 1 }), "ASSEMBLY_STATS_INVALID_TIME")
    assert.strictEqual(yield* code({ region: "all", since: recent, template_id: null }), undefined)
  })
})
