import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { request } from "node:http"
import { storeOne } from "./assets.ts"
import { signedFields } from "./signedCalls.ts"
import { bytes, json, layer as layerEmulator, send, sha256, storeAt } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

/** Makes a form whose fields precede its files, as in the forms of the clients of the service. */
const formOf = Effect.fnUntraced(function* (
  params: object,
  files: Readonly<Record<string, Uint8Array<ArrayBuffer>>> = {},
  auth: object = {}
) {
  const form = new FormData()
  for (const [name, value] of Object.entries(yield* signedFields(params, { auth }))) form.set(name, value)
  form.set("colour", "red")
  for (const [name, content] of Object.entries(files)) form.append(name, new File([content], `${name}.txt`))
  return form
})

const sent = (given: HttpClientRequest.HttpClientRequest, form: FormData) =>
  Effect.map(send(HttpClientRequest.bodyFormData(given, form)), json)

const post = (form: FormData) => sent(HttpClientRequest.post("/assemblies"), form)

const field = "--b\r\ncontent-disposition: form-data; name=params\r\n\r\n{}\r\n"
const file = "--b\r\ncontent-disposition: form-data; name=file; filename=file\r\n\r\nbytes\r\n"

layer(layerEmulator())("Files in the form of a creation", (it) => {
  it.effect("are the files of the Assembly", function* () {
    const form = yield* formOf({ steps: storeAt("${file.name}") }, { one: bytes, two: new Uint8Array(5) })
    const status = (yield* post(form)) as Assembly.Status
    assert.deepInclude(status, { ok: "ASSEMBLY_COMPLETED", tus_uploads: [], num_input_files: 2 })
    assert.deepStrictEqual(status["fields"], { colour: "red" })
    const [one, two] = status.uploads ?? []
    assert.deepInclude(one, { name: "one.txt", field: "one", size: 300_000, sha256, is_tus_file: false })
    assert.deepInclude(two, { name: "two.txt", size: 5, tus_upload_url: null })
    assert.strictEqual(status.results?.["stored"]?.[1]?.path, "two.txt")
  })

  it.effect("are not looked at before it is known who sends them", function* () {
    const form = yield* formOf({}, { one: bytes })
    form.set("signature", "sha384:00")
    assert.deepInclude(yield* post(form), { error: "INVALID_SIGNATURE" })
    const late = yield* formOf({}, { one: bytes })
    const signature = String(late.get("signature"))
    late.delete("signature")
    late.append("signature", signature)
    assert.deepInclude(yield* post(late), { error: "NO_SIGNATURE_FIELD" })
  })

  it.effect("are no larger than auth.max_size", function* () {
    for (const [max_size, expected] of [
      [299_999, { error: "MAX_SIZE_EXCEEDED" }],
      [300_000, { ok: "ASSEMBLY_COMPLETED" }]
    ] as const) {
      assert.deepInclude<object>(yield* post(yield* formOf({}, { one: bytes }, { max_size })), expected)
    }
  })

  it.effect("of a PATCH and a DELETE are read too, because the official clients send them", function* () {
    const path = `/dam/assets/${yield* storeOne("multipart/a")}`
    const moved = yield* sent(HttpClientRequest.patch(path), yield* formOf({ filename: "b" }))
    assert.deepInclude(moved, { ok: "DAM_ASSET_MOVED" })
    assert.deepInclude(yield* sent(HttpClientRequest.delete(path), yield* formOf({})), { ok: "DAM_ASSET_DELETED" })
  })

  it.effect("that break off abort the request", function* () {
    const { baseUrl } = yield* Emulator.Emulator
    const id = Assembly.AssemblyId.make("f".repeat(32))
    const whole = new Response(yield* formOf({}, { one: bytes }))
    const contentType = whole.headers.get("content-type") ?? ""
    const body = Buffer.from(yield* Effect.promise(() => whole.arrayBuffer()))
    const connection = request(`${baseUrl}/assemblies/${id}`, {
      method: "POST",
      headers: { "content-type": contentType, "content-length": body.length }
    })
    connection.on("error", () => {})
    connection.write(body.subarray(0, 200_000))
    const busy = Effect.option(Assemblies.get(id))
    yield* Effect.repeat(busy, { until: (status) => status._tag === "Some" })
    connection.destroy()
    const status = yield* Effect.repeat(Assemblies.get(id), { until: ({ ok }) => ok !== "ASSEMBLY_UPLOADING" })
    assert.strictEqual(status.ok, "REQUEST_ABORTED")
  })
  const disposition = "--b\r\ncontent-disposition: form-data; name"
  const unreadable = "The headers of a part"
  const unsigned = "The params have no auth object"
  it.effect.each([
    ["the first part", `${disposition}=params\r\n--b--\r\n`, unreadable],
    ["the first part, without headers", "--b\r\n--b--\r\n", unsigned],
    ["a part after a field", `${field}${disposition}=a\r\n--b--\r\n`, unreadable],
    ["a part after a file", `${file}--b\r\n\r\n${disposition}=a; filename=a\r\n--b--\r\n`, unsigned],
    [
      "a part without a name",
      `${field}--b\r\ncontent-type: text/plain\r\n\r\nx\r\n--b--\r\n`,
      "A part of the multipart body"
    ]
  ] as const)("are refused with 400 if the headers have no end: %s", function* ([, body, message]) {
    const creation = HttpClientRequest.post("/assemblies")
    const answer = yield* send(HttpClientRequest.bodyText(creation, body, "multipart/form-data; boundary=b"))
    assert.strictEqual(answer.status, 400)
    assert.include(String(json(answer)["message"]), message)
  })

  it.effect("are refused where no files belong", function* () {
    const { assembly_id } = yield* Assemblies.create({})
    const form = yield* formOf({}, { one: bytes })
    const answer = yield* sent(HttpClientRequest.post(`/assemblies/${assembly_id}/replay`), form)
    assert.deepInclude(answer, { error: "INVALID_FORM_DATA" })
  })
})
