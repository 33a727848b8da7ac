/**
 * What people read of an error. No text tells a URL: it may be a capability.
 */
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { Tus, TusError, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Effect, Layer, Schema } from "effect"
import { assert, describe, effect, layer, Clients, type Fault, HangClock, Scene, Upload } from "./utils/index.ts"

const fails = (parts: Parameters<typeof UploadTarget.make>[0]) =>
  Effect.map(Effect.flip(UploadTarget.make(parts)), ({ message }) => message)

const secret = "s3cr3t"
const sound = { tusUrl: "https://tus.example.com/", assemblySslUrl: "https://api.example.com/assemblies/1" }

describe("The text of an error", () => {
  effect("of an InvalidTarget names the rule, and not the URL that breaks it (spec O-33)", function* () {
    for (const [url, rule] of [
      [`http://${secret}.example`, "Expected https (http only on loopback)"],
      [secret, "Expected an absolute http or https URL"],
      [`https://${secret}@tus.example.com/`, "Expected a URL without user info"],
      [`https://tus.example.com/?${secret}`, "Expected a URL without query and fragment"],
      [`https://tus.example.com/ ${secret}`, "Expected a URL without white space, backslash and control characters"]
    ] as const) {
      assert.strictEqual(yield* fails({ ...sound, tusUrl: url }), `tus_url: ${rule}`)
      assert.strictEqual(yield* fails({ ...sound, assemblySslUrl: url }), `assembly_ssl_url: ${rule}`)
      assert.match(yield* fails({ ...sound, origins: [url] }), /^origins: Expected (?:an origin|https)/)
    }
    const status = { assembly_id: AssemblyId.make("0".repeat(32)), tus_url: sound.tusUrl }
    const error = yield* Effect.flip(Scene.fromStatus(status, "https://tus.example.com"))
    assert.strictEqual(error.message, "assembly_ssl_url: missing from the Assembly status, or not a string")
  })

  effect("of an UnsafeLocation names the rule, and not the URL", function* () {
    const target = yield* UploadTarget.make(sound)
    for (const [location, rule] of [
      [`/elsewhere/${secret}`, "its path is not /resumable/files/<id>[/…]"],
      [
        `https://evil.example/resumable/files/${secret}`,
        "the host evil.example does not belong to the service; if it does, add its origin to the option origins"
      ],
      [`https://${secret}@tus.example.com/resumable/files/1`, "Expected a URL without user info"],
      [`http://tus.example.com/resumable/files/${secret}`, "Expected https (http only on loopback)"],
      [`https://t%75s.example.com/resumable/files/${secret}`, "its host is not in its canonical form"]
    ] as const) {
      const error = yield* Effect.flip(Effect.fromResult(UploadTarget.resolve(target, location)))
      assert.strictEqual(error.message, `the upload URL is refused: ${rule}`)
    }
  })
})

layer(Clients.undici)("The text of an answer", (it) => {
  const fixed = { _tag: "Fixed", length: 3n, metadata: Scene.options.metadata } as const
  const integer = "Expected an unsigned base-10 integer without leading zeros"

  it.effect("that breaks the protocol names each header and its rule, and no value", function* () {
    const broken: Fault = {
      _tag: "Status",
      method: "POST",
      status: 201,
      headers: { "tus-resumable": secret, "upload-offset": secret }
    }
    const { server, target } = yield* Scene.make([broken])
    const error = yield* Effect.flip(Tus.create(target, fixed))
    assert.strictEqual(
      error.message,
      `create at ${new URL(server.tusUrl).host}: status 201, invalid headers: location: Missing key; ` +
        `tus-resumable: Expected "1.0.0"; upload-offset: ${integer}`
    )
  })

  it.effect("of another status tells it", function* () {
    const { server, target } = yield* Scene.make()
    const { url } = yield* Tus.create(target, fixed)
    server.faults.push({ _tag: "Status", method: "HEAD", status: 302 })
    const odd = yield* Effect.flip(Tus.offset(url))
    assert.strictEqual(odd.message, `offset at ${new URL(server.tusUrl).host}: status 302, unexpected status`)
    // Answers to HEAD have no body that could explain it.
    server.faults.push({ _tag: "Status", method: "HEAD", status: 503 })
    const silent = yield* Effect.flip(Tus.offset(url))
    assert.strictEqual(silent.message, `offset at ${new URL(server.tusUrl).host}: status 503 without an explanation`)
  })

  it.effect("of InvalidRequest names what broke a rule", function* () {
    const { target } = yield* Scene.make()
    const error = yield* Effect.flip(Tus.create(target, { ...fixed, metadata: { filename: "" } }))
    assert.instanceOf(error, InvalidRequest)
    const message =
      "Tus.create: upload-metadata.filename: Expected at least 1 character; upload-metadata.fieldname: Missing key"
    assert.strictEqual(error.message, message)
  })
})

layer(Layer.merge(Clients.undici, HangClock.layer))("An error of an upload", (it) => {
  const source = UploadSource.fromBytes(Scene.content(300_000))
  const parts = UploadSource.fromBytes(Scene.content(2 * 1024 * 1024))
  const headers = { "x-request-id": "r-1" }
  const body = "ERR_X: no\n"
  const away: ReadonlyArray<Fault> = Array.from({ length: 8 }, () => ({ _tag: "Status", method: "GET", status: 500 }))
  const silent = (method: Fault["method"]): Fault => ({ _tag: "NoAnswer", method })
  const refusal = (method: Fault["method"], status: number): Fault => ({ _tag: "Status", method, status })
  const cut: Fault = { _tag: "Cut", method: "PATCH", bytes: 100 }

  const stall: Fault = { _tag: "Stall", method: "PATCH", bytes: 100 }
  const more: Fault = { _tag: "WrongOffset", method: "PATCH", offset: "100000000" }
  const another: Fault = { _tag: "WrongLength", method: "HEAD", length: "17" }
  const missing: Fault = { _tag: "MissingOffset", method: "HEAD" }
  it.effect.each([
    ["a creation that is refused", "UploadRefused", [refusal("POST", 403)], {}],
    ["a creation that is turned away", "RateLimited", [refusal("POST", 429)], {}],
    ["a creation whose answer is lost", "CreationUnknown", [silent("POST"), ...away], {}],
    ["a checksum that is not asked about in time", "Stalled", [silent("OPTIONS")], { checksum: "sha1" }],
    ["a question that is not answered", "Stalled", [cut, silent("HEAD")], { maxRetries: 1 }],
    ["bytes that stall", "Stalled", [stall], {}],
    ["an answer without an offset", "ProtocolViolation", [cut, missing], { maxRetries: 1 }],
    ["more bytes than were sent", "UploadUntrusted", [more], { maxRetries: 1 }],
    ["another length", "UploadMismatch", [cut, another], { maxRetries: 1 }],
    ["a lost connection", "TransportFailure", [cut], {}],
    ["an upload that is gone", "UploadGone", [refusal("PATCH", 410), ...away], {}],
    ["parts that are not put together", "CreationUnknown", [silent("FINAL"), ...away], { parallel: 2 }]
  ] satisfies ReadonlyArray<readonly [string, string, ReadonlyArray<Fault>, Partial<Upload.Options>]>)(
    "tells the host of %s, and no path",
    function* ([, tag, faults, own]) {
      const { server, target } = yield* Scene.make(faults)
      const options = { ...Scene.options, maxRetries: 0, ...own }
      const error = yield* Effect.flip(Upload.run(target, "parallel" in own ? parts : source, options))
      assert.strictEqual(error._tag, tag, error.message)
      assert.propertyVal(error, "host", new URL(server.tusUrl).host)
      assert.notMatch(`${error.message} ${JSON.stringify(error)}`, /resumable|assemblies/)
    }
  )

  it.effect.each(["POST", "FINAL"] as const)(
    "has the error of the request %s whose answer was lost, also in its JSON form",
    function* (method) {
      const json = Schema.fromJsonString(Schema.toCodecJson(TusError.UploadError))
      const { target } = yield* Scene.make([silent(method), ...away])
      const options = { ...Scene.options, parallel: method === "FINAL" ? 2 : 1 } as const
      const error = yield* Effect.flip(Upload.run(target, parts, options))
      if (error._tag !== "CreationUnknown") return assert.fail(error.message)
      assert.deepInclude(error.cause, { _tag: "Stalled", request: "create" })
      const decoded = yield* Schema.decodeEffect(json)(yield* Schema.encodeEffect(json)(error))
      assert.deepInclude(decoded, { _tag: error._tag, description: error.description })
      assert.deepStrictEqual(decoded.cause, { _tag: "Stalled", message: error.cause?.message })
    }
  )

  it.effect.each([
    [400, "UploadRefused"],
    [404, "UploadGone"],
    [409, "OffsetConflict"],
    [413, "TooLarge"],
    [423, "UploadLocked"],
    [460, "ChecksumMismatch"],
    [500, "ServerFailure"],
    [302, "ProtocolViolation"]
  ] as const)("of a PATCH answered %d is %s, with the code of the server and the id", function* ([status, _tag]) {
    const refused: Fault = { _tag: "Status", method: "PATCH", status, headers, body }
    // After 413, a smaller request follows.
    const { server, target } = yield* Scene.make([refused, ...(status === 413 ? [refused] : []), ...away])
    const error = yield* Effect.flip(Upload.run(target, source, { ...Scene.options, maxRetries: 0 }))
    assert.deepInclude(error, { _tag, request: "append", host: new URL(server.tusUrl).host, requestId: "r-1" })
    // The body of a redirect is not read.
    if (status !== 302) assert.propertyVal(error, "code", "ERR_X")
  })

  it.effect("of a creation answered 429 has the code of the server and the id of the request", function* () {
    const { target } = yield* Scene.make([{ _tag: "Status", method: "POST", status: 429, headers, body }])
    const limited = yield* Effect.flip(Upload.run(target, source, { ...Scene.options, maxRetries: 0 }))
    assert.deepInclude(limited, { _tag: "RateLimited", operation: "Tus.create", code: "ERR_X", requestId: "r-1" })
  })
})
