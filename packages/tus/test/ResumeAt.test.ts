/**
 * An upload that goes on from a URL which the program kept itself.
 */
import { Tus, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Effect, Schema, Stream } from "effect"
import { assert, layer, Clients, Scene, ScriptedTus, Upload } from "./utils/index.ts"

const bytes = Scene.content(500_000)
const source = UploadSource.fromBytes(bytes)
const { metadata } = Scene.options

/** An upload of which the server has the first bytes, and its URL as another run finds it. */
const begun = (length = BigInt(bytes.length)) =>
  Effect.gen(function* () {
    const { server, target } = yield* Scene.make()
    const { url } = yield* Tus.create(target, { _tag: "Fixed", length, metadata })
    yield* Tus.append(url, { offset: 0n, body: bytes.subarray(0, 200_000) })
    const atRest = UploadTarget.urlAtRest(target)
    const text = yield* Schema.encodeEffect(atRest)(url)
    server.requests.length = 0
    return { server, target, url: yield* Schema.decodeEffect(atRest)(text) }
  })

layer(Clients.undici)("An upload that goes on from its URL", (it) => {
  it.effect("sends what the server does not have", function* () {
    const { server, target, url } = yield* begun()
    const { length } = yield* Upload.resume({ target, url, metadata }, source, Scene.options)
    assert.strictEqual(length, 500_000n)
    const methods = server.requests.map((request) => request.split(" ")[0])
    assert.deepStrictEqual(methods, ["HEAD", "PATCH"])
    const whole = yield* Scene.make()
    yield* Upload.run(whole.target, source, Scene.options)
    assert.strictEqual(yield* Scene.stored(server), yield* Scene.stored(whole.server))
  })

  it.effect("tells where it goes on, and its end", function* () {
    const { target, url } = yield* begun()
    const events = yield* Stream.runCollect(Upload.resumeEvents({ target, url, metadata }, source, Scene.options))
    assert.deepStrictEqual(events[0], { _tag: "Resumed", offset: 200_000n })
    assert.strictEqual(events.at(-1)?._tag, "Completed")
  })

  it.effect("is refused where it has another length or other metadata, and nothing is sent", function* () {
    const other = yield* begun(600_000n)
    const length = yield* Effect.flip(Upload.resume({ ...other, metadata }, source, Scene.options))
    assert.deepInclude(length, { _tag: "UploadMismatch", field: "upload-length" })
    const { server, target, url } = yield* begun()
    const renamed = { target, url, metadata: { ...metadata, filename: "b.bin" } }
    const named = yield* Effect.flip(Upload.resume(renamed, source, Scene.options))
    assert.deepInclude(named, { _tag: "UploadMismatch", field: "upload-metadata" })
    const methods = [...other.server.requests, ...server.requests].map((request) => request.split(" ")[0])
    assert.deepStrictEqual(methods, ["HEAD", "HEAD"])
  })

  const own = { filename: "YS5iaW4=", fieldname: "ZmlsZQ==" }
  const headers: ReadonlyArray<readonly [header: string, isOurs: boolean]> = [
    [`filename ${own.filename},fieldname ${own.fieldname}`, true],
    [`fieldname ${own.fieldname}, filename ${own.filename} ,other`, true],
    // Unused bits of the last digit.
    [`filename ${own.filename},fieldname ZmlsZR==`, true],
    [
      `binary //79,lone %,caf\u00e9 w6k=,two words here,,other YQ==,other Yg==,filename ${own.filename},fieldname ${own.fieldname}`,
      true
    ],
    [`filename ${own.filename},filename ${own.filename},fieldname ${own.fieldname}`, false],
    [`filename ${own.filename} x,fieldname ${own.fieldname}`, false],
    [`filename //79,fieldname ${own.fieldname}`, false],
    [`filename %,fieldname ${own.fieldname}`, false],
    [`Filename ${own.filename},fieldname ${own.fieldname}`, false],
    [`fieldname ${own.fieldname}`, false],
    ["", false]
  ]
  it.effect.each(headers)("with the metadata '%s' from HEAD: continues %s", function* ([header, isOurs]) {
    const server = yield* ScriptedTus.make
    server.uploads.set("u", { metadata: header, length: bytes.length, bytes: Buffer.from(bytes.subarray(0, 9)) })
    const url = yield* Schema.decodeEffect(UploadTarget.urlAtRest(server.target))("/resumable/files/u")
    const done = yield* Effect.result(Upload.resume({ target: server.target, url, metadata }, source))
    assert.strictEqual(done._tag === "Success" ? true : done.failure._tag !== "UploadMismatch", isOurs)
    assert.strictEqual(server.requests.includes("PATCH"), isOurs)
  })

  it.effect("checks its options first", function* () {
    const { server, target, url } = yield* begun()
    const wrong = yield* Effect.flip(
      Upload.resume({ target, url, metadata }, source, { ...Scene.options, chunkSize: 0 })
    )
    assert.strictEqual(wrong._tag, "InvalidRequest")
    assert.deepStrictEqual(server.requests, [])
  })
})
