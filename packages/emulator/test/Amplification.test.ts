/** Tests that a short request cannot make the emulator build a long value. */
import { Emulator } from "@assembly-effect/emulator"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { signedForm } from "./notified.ts"
import { call } from "./signedCalls.ts"
import { json, layer as layerEmulator, send, storeAt } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const tooLong = "The path has more than 512 code points or 1024 bytes."

layer(layerEmulator())("The path of a stored file", (it) => {
  const store = Effect.fnUntraced(function* (path: string, fields: object) {
    const steps = storeAt(path)
    const answer = yield* signedForm("/assemblies", { fields, steps }, [new File(["x"], "x.txt")])
    return json(answer)
  })
  const refused = Effect.fnUntraced(function* (path: string, fields: object) {
    const { error, message } = yield* store(path, fields)
    assert.deepStrictEqual({ error, message }, { error: "INTERNAL_COMMAND_ERROR", message: tooLong })
  })

  it.effect("is not built where its variables make it too long", function* () {
    yield* refused("${fields.a}".repeat(20_000), { a: "x".repeat(500_000) })
    yield* refused("${fields.a}".repeat(300), { a: "x".repeat(500_000) })
  })

  it.effect("is not split into its folders, each with an id, where it is too long", function* () {
    yield* refused("${fields.a}".repeat(5), { a: "/x".repeat(500_000) })
    yield* refused("${fields.a}", { a: "/x".repeat(600) })
  })

  it.effect("is as long as it may be after its normalisation", function* () {
    const name = "e\u0301".repeat(255)
    const { ok, results } = yield* store("${fields.a}/${fields.a}", { a: name })
    assert.strictEqual(ok, "ASSEMBLY_COMPLETED")
    const composed = "\u00e9".repeat(255)
    assert.deepInclude(Object(results).stored[0], { path: `${composed}/${composed}` })
    yield* refused("${fields.a}/${fields.b}", { a: name, b: `${name}/x` })
  })

  it.effect("has what is no variable as it is written, and no field that every object has", function* () {
    const path = "${fields.a}-${fields.n}-${fields.toString}-${toString}-${}-${fields.o}"
    const { results } = yield* store(path, { a: "${fields.a}", n: 1, o: {} })
    const expected = "${fields.a}-1-${fields.toString}-${toString}-${}-${fields.o}"
    assert.deepInclude(Object(results).stored[0], { path: expected })
  })
})

layer(layerEmulator())("A multipart body that cannot be read", (it) => {
  const post = Effect.fnUntraced(function* (body: string, type = "multipart/form-data; boundary=b") {
    const { baseUrl } = yield* Emulator.Emulator
    const request = HttpClientRequest.post(`${baseUrl}/assemblies`).pipe(HttpClientRequest.bodyText(body, type))
    return json(yield* send(request))["message"]
  })

  it.effect("is refused with a sentence that says why", function* () {
    assert.deepStrictEqual(
      [
        yield* post("{}", "application/json"),
        yield* post("abc", "multipart/form-data"),
        yield* post('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nv'),
        yield* post("--b\r\ncontent-disposition: form-data\r\n\r\nv\r\n--b--"),
        yield* post("--b\r\nno header\r\n\r\nv\r\n--b--")
      ],
      [
        "The operation does not accept a body of type application/json.",
        "The multipart body has no boundary: its content-type must name one.",
        "The multipart body ends before its last boundary.",
        "A part of the multipart body has no content-disposition that names its field.",
        "The headers of a part of the multipart body cannot be read."
      ]
    )
  })
})

layer(layerEmulator())("The issues of long params", (it) => {
  const numbers = Array.from({ length: 200_000 }, () => 1)

  it.effect.each([
    ["/dam/assets/bulk/delete", { asset_ids: numbers }],
    ["/dam/assets/bulk/move", { asset_ids: numbers, destination_folder_id: null }],
    ["/auth_keys", { scope: numbers }]
  ] as const)("are not all found: POST %s names the first one", function* ([path, params]) {
    const { said, status } = yield* call("POST", path, params)
    assert.strictEqual(status, 400)
    assert.match(String(said["message"]), /^(?:asset_ids|scope)\.0: Expected [^;]+$/)
  })

  it.effect("are all found in short params", function* () {
    const { said } = yield* call("POST", "/auth_keys", { scope: numbers.slice(0, 1000) })
    assert.match(String(said["message"]), /^scope\.0: .+; scope\.1: .+; and 980 more$/)
  })
})
