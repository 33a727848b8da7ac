/**
 * Tests over HTTP that the emulator accepts every request that the schemas allow. The suite of the operations tests that
 * it refuses all others (packages/api/test/EmulatorRequests.test.ts).
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyList from "@assembly-effect/schema/AssemblyList"
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as DamEntries from "@assembly-effect/schema/DamEntries"
import * as Testing from "@assembly-effect/schema/testing"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import { assert, layer } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schema from "effect/Schema"
import { createUpload, hmac, json, layer as layerEmulator, send, storeAt, uploadOne } from "./support.ts"

/** The number of generated requests of each kind. */
const count = Number(process.env["PROPERTY_RUNS"] ?? 50)
const seed = 20_261_121

const sample = <A>(arbitrary: Arbitrary.Arbitrary<A>) => Arbitrary.sampleEffect(arbitrary, { count, seed })
const encoded = <T, E>(schema: Schema.ConstraintCodec<T, E>) => sample(Testing.of(schema).valid.wire)

/** Sends every request and checks its response. The message of a failure contains the request. */
const each = <A>(
  inputs: ReadonlyArray<A>,
  request: (input: A) => Effect.Effect<Answer, unknown, Emulator.Emulator | Client>,
  check: (answer: Answer, input: A) => void
) =>
  Effect.forEach(
    inputs,
    (input) =>
      Effect.map(request(input), (answer) => {
        try {
          check(answer, input)
        } catch (problem) {
          throw new Error(
            `${JSON.stringify(input, (_, value) => (typeof value === "bigint" ? String(value) : value))} → ${answer.status} ${answer.text}`,
            { cause: problem }
          )
        }
      }),
    { concurrency: 8, discard: true }
  )

type Answer = Effect.Success<ReturnType<typeof send>>
type Client = Effect.Services<ReturnType<typeof send>>

let nonce = 0
/** The fields of a signed request with these params. */
const signed = Effect.fnUntraced(function* (params: unknown, expires = "2999-01-01T00:00:00Z") {
  const { credentials } = yield* Emulator.Emulator
  const auth = { key: credentials.key, expires, nonce: `${nonce++}` }
  const text = JSON.stringify({ ...Object(params), auth })
  return { params: text, signature: hmac(text, credentials.secret) }
})

const get = (path: string) => (params: unknown) =>
  Effect.flatMap(signed(params), (fields) =>
    send(HttpClientRequest.get(path).pipe(HttpClientRequest.setUrlParams(fields)))
  )

const form =
  (method: "post" | "patch", path: string, others: Readonly<Record<string, string>> = {}) =>
  (params: unknown) =>
    Effect.flatMap(signed(params), (fields) =>
      send(HttpClientRequest[method](path).pipe(HttpClientRequest.bodyUrlParams({ ...fields, ...others })))
    )

const refusedAs = (answer: Answer, status: number, code: string) => {
  assert.strictEqual(answer.status, status)
  assert.deepInclude(json(answer), { error: code, http_code: status })
}

const asset = Effect.map(
  uploadOne({ steps: storeAt("${file.id}") }, new Uint8Array(1)),
  ({ results }) => `/dam/assets/${results?.["stored"]?.[0]?.asset_id}`
)

/** The only region of the service, and the name for every region. */
const regions: ReadonlyArray<unknown> = ["eu-west-1", "all"]

layer(layerEmulator(), { excludeTestServices: true })("A generated request", (it) => {
  it.effect("for statistics of a region that the service does not have is refused", () =>
    Effect.gen(function* () {
      const unknown = (yield* encoded(AssemblyStatistics.Query)).filter(({ region }) => !regions.includes(region))
      assert.isNotEmpty(unknown)
      yield* each(unknown, get("/assembly_stats"), (answer) => refusedAs(answer, 400, "ASSEMBLY_STATS_MISSING_REGION"))
    })
  )

  it.effect("for statistics that is valid is answered; only a text that is no date may be refused", () =>
    Effect.gen(function* () {
      const valid = yield* encoded(AssemblyStatistics.Query)
      const queries = valid.map((query, index) => Object.assign({}, query, { region: regions[index % regions.length] }))
      yield* each(queries, get("/assembly_stats"), (answer) => {
        if (answer.status !== 200) refusedAs(answer, 400, "ASSEMBLY_STATS_INVALID_TIME")
      })
      const since = DateTime.formatIso(yield* DateTime.now)
      const recent = queries.map((query) => Object.assign({}, query, { since }))
      yield* each(recent, get("/assembly_stats"), ({ status }) => assert.strictEqual(status, 200))
    })
  )

  it.effect("for a list is answered when valid", () =>
    Effect.gen(function* () {
      const valid = yield* encoded(AssemblyList.Query)
      yield* each(valid, get("/assemblies"), ({ status }) => assert.strictEqual(status, 200))
    })
  )

  it.effect("to move an asset is never malformed when valid", () =>
    Effect.gen(function* () {
      const valid = yield* encoded(DamAsset.MoveRequest)
      const path = yield* asset
      yield* each(valid, form("patch", path), (answer, params) => {
        // Generated folder ids do not exist, and generated names are free.
        const folder = "destination_folder_id" in params ? params.destination_folder_id : null
        if (folder === null || folder === undefined) assert.strictEqual(answer.status, 200)
        else refusedAs(answer, 404, "DAM_RESOURCE_NOT_FOUND")
      })
    })
  )

  it.effect("for a list of assets is answered when valid, but for a cursor that nobody made", () =>
    Effect.gen(function* () {
      const valid = yield* encoded(DamEntries.ListQuery)
      yield* each(valid, get("/dam/assets"), (answer, params) => {
        if ("cursor" in params) refusedAs(answer, 400, "DAM_INVALID_REQUEST")
        else assert.strictEqual(answer.status, 200)
      })
    })
  )

  it.effect("to get an asset finds no generated version", () =>
    Effect.gen(function* () {
      const path = yield* asset
      const valid = yield* encoded(DamEntries.GetQuery)
      yield* each(valid, get(path), (answer, params) => {
        if ("version_id" in params) refusedAs(answer, 404, "DAM_RESOURCE_NOT_FOUND")
        else assert.strictEqual(answer.status, 200)
      })
    })
  )

  it.effect.each([
    ["move many assets", "/dam/assets/bulk/move", DamEntries.MoveManyRequest],
    ["delete many assets", "/dam/assets/bulk/delete", DamEntries.DeleteManyRequest],
    ["move an entry", "/dam/entries/move", DamEntries.MoveEntryRequest]
  ] as const)("to %s finds nothing when valid", ([, path, schema]) =>
    Effect.gen(function* () {
      const valid = yield* encoded<unknown, object>(schema)
      yield* each(valid, form("post", path), (answer, params) => {
        const ids = "asset_ids" in params ? (params.asset_ids as ReadonlyArray<string>) : []
        // The service may refuse an asset that is listed twice.
        if (new Set(ids).size < ids.length) refusedAs(answer, 400, "DAM_INVALID_REQUEST")
        else refusedAs(answer, 404, "DAM_RESOURCE_NOT_FOUND")
      })
    })
  )

  it.effect("to create an Assembly makes one when valid", () =>
    Effect.gen(function* () {
      const valid = yield* encoded(Assembly.CreateParams)
      yield* each(valid, form("post", "/assemblies"), (answer, params) => {
        // Generated Template ids do not exist. The emulator looks for the Template only if the request is valid.
        if ("template_id" in params) return refusedAs(answer, 404, "TEMPLATE_NOT_FOUND")
        assert.strictEqual(answer.status, 200)
        assert.match(String(json(answer)["assembly_id"]), /^[a-f0-9]{32}$/)
      })
    })
  )

  it.effect.each([
    "01",
    "1e0",
    "+1",
    "-1",
    "1.5",
    "1.0",
    "",
    " 1",
    "0x1",
    "one",
    "NaN",
    "Infinity",
    "1e300",
    "9007199254740992"
  ])("with %j expected files is refused", (files) =>
    Effect.gen(function* () {
      for (const name of ["num_expected_upload_files", "tus_num_expected_upload_files"]) {
        refusedAs(yield* form("post", "/assemblies", { [name]: files })({}), 400, "INVALID_FORM_DATA")
      }
    })
  )

  it.effect("to create an upload does so when valid", () =>
    Effect.gen(function* () {
      const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1_000_000 })
      const valid = yield* sample(Arbitrary.schema(TusUpload.Creation))
      const assembly_url = assembly.assembly_ssl_url ?? ""
      const headersOf = (creation: TusUpload.Creation) =>
        Schema.encodeSync(TusUpload.Creation)({ ...creation, metadata: { ...creation.metadata, assembly_url } })
      yield* each(
        valid.map(headersOf),
        (headers) => createUpload(assembly, headers as Record<string, string>),
        (answer, headers) =>
          // Generated parts do not exist.
          assert.strictEqual(answer.status, String(headers["upload-concat"]).startsWith("final") ? 404 : 201)
      )
    })
  )

  it.effect("to create an upload is refused when invalid, by the header that is wrong", () =>
    Effect.gen(function* () {
      const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
      const invalid = yield* sample(Testing.of(TusUpload.Creation).invalid.wire)
      // White space around a header's value is not a part of it (RFC 9110), so it breaks no rule here.
      const sendable = invalid.filter(({ input }) =>
        Object.values(Object(input)).every((value) => typeof value === "string" && value.trim() === value)
      )
      assert.isAbove(sendable.length, count / 2)
      yield* each(
        sendable,
        ({ input }) =>
          send(HttpClientRequest.post(assembly.tus_url ?? "", { headers: input as Record<string, string> })),
        (answer, { path }) => {
          const status = path[0] === "tus-resumable" ? 412 : path[0] === "content-type" ? 415 : 400
          assert.strictEqual(answer.status, status)
          assert.notInclude(answer.text, "[object")
          assert.match(answer.text, status === 412 ? /^ERR_UNSUPPORTED_VERSION: .+\n$/ : /^ERR_INVALID_[A-Z_]+: .+\n$/)
        }
      )
      assert.strictEqual((yield* Assemblies.get(Assembly.AssemblyId.make(assembly.assembly_id))).started_tus_uploads, 0)
    })
  )
})
