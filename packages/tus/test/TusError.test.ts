/**
 * What people read of an error. No text tells a URL: it may be a capability.
 */
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import { Tus, TusError, UploadSource, UploadTarget } from "@assembly-effect/tus"
import { assert, layer, layerTest } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Schema } from "effect"
import { Clients, type Fault, HangClock, Scene, Upload } from "./utils/index.ts"

const fails = (parts: Parameters<typeof UploadTarget.make>[0]) =>
  Effect.map(Effect.flip(UploadTarget.make(parts)), ({ message }) => message)

const secret = "s3cr3t"
const sound = { tusUrl: "https://tus.example.com/", assemblySslUrl: "https://api.example.com/assemblies/1" }

layerTest(Layer.empty)("The text of an error", (it) => {
  it.effect("of an InvalidTarget names the rule, and not the URL that breaks it (spec O-33)", function* () {
    for (const [url, rule] of [
      [`http://${secret}.example`, "Expected https (http only on loopback)"],
      ["", "Expected an absolute http or https URL"],
      [secret, "Expected an absolute http or https URL"],
      [`https://${secret}@tus.example.com/`, "Expected a URL without user info"],
      [`https://tus.example.com/?${secret}`, "Expected a URL without query and fragment"],
      [`https://tus.example.com/#${secret}`, "Expected a URL without query and fragment"],
      [`https://tus.example.com\\${secret}`, "Expected a URL without white space, backslash and control characters"],
      [`https://tus.example.com/ ${secret}`, "Expected a URL without white space, backslash and control characters"]
    ] as const) {
      assert.strictEqual(yield* fails({ ...sound, tusUrl: url }), `tus_url: ${rule}`)
      assert.strictEqual(yield* fails({ ...sound, assemblySslUrl: url }), `assembly_ssl_url: ${rule}`)
      assert.match(yield* fails({ ...sound, origins: [url] }), /^origins: Expected (?:an origin|https)/)
    }
    for (const field of ["tus_url", "assembly_ssl_url"] as const) {
      const status = { assembly_ssl_url: sound.assemblySslUrl, tus_url: sound.tusUrl, [field]: undefined }
      const error = yield* Effect.flip(
        Scene.fromStatus({ assembly_id: AssemblyId.make("0".repeat(32)), ...status }, "https://tus.example.com")
      )
      assert.strictEqual(error.message, `${field}: missing from the Assembly status, or not a string`)
    }
  })

  it.effect("of an UnsafeLocation names the rule, and not the URL", function* () {
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
    assert.strictEqual(
      error.message,
      "Tus.create: upload-metadata.filename: Expected at least 1 character; upload-metadata.fieldname: Missing key"
    )
  })
})

layer(Layer.merge(Clients.undici, HangClock.layer))("An error of an upload", (it) => {
  const source = UploadSource.fromBytes(Scene.content(300_000))
  const parts = UploadSource.fromBytes(Scene.content(2 * 1024 * 1024))
  const headers = { "x-request-id": "r-1" }
  const body = "ERR_X: no\n"
  const away: ReadonlyArray<Fault> = Array.from({ length: 8 }, () => ({ _tag: "Status", method: "GET", status: 500 }))

  /** What goes wrong, the options of the upload, and the tag of its error. */
  const cases: Readonly<Record<string, readonly [ReadonlyArray<Fault>, Partial<Upload.Options>, string]>> = {
    "a creation that is refused": [[{ _tag: "Status", method: "POST", status: 403 }], {}, "UploadRefused"],
    "a creation that is turned away": [[{ _tag: "Status", method: "POST", status: 429 }], {}, "RateLimited"],
    "a creation whose answer is lost": [[{ _tag: "NoAnswer", method: "POST" }, ...away], {}, "CreationUnknown"],
    "a checksum that is not asked about in time": [
      [{ _tag: "NoAnswer", method: "OPTIONS" }],
      { checksum: "sha1" },
      "Stalled"
    ],
    "a question that is not answered": [
      [
        { _tag: "Cut", method: "PATCH", bytes: 100 },
        { _tag: "NoAnswer", method: "HEAD" }
      ],
      { maxRetries: 1 },
      "Stalled"
    ],
    "bytes that stall": [[{ _tag: "Stall", method: "PATCH", bytes: 100 }], {}, "Stalled"],
    "an answer without an offset": [
      [
        { _tag: "Cut", method: "PATCH", bytes: 100 },
        { _tag: "MissingOffset", method: "HEAD" }
      ],
      { maxRetries: 1 },
      "ProtocolViolation"
    ],
    "more bytes than were sent": [
      [{ _tag: "WrongOffset", method: "PATCH", offset: "100000000" }],
      { maxRetries: 1 },
      "UploadUntrusted"
    ],
    "another length": [
      [
        { _tag: "Cut", method: "PATCH", bytes: 100 },
        { _tag: "WrongLength", method: "HEAD", length: "17" }
      ],
      { maxRetries: 1 },
      "UploadMismatch"
    ],
    "a lost connection": [[{ _tag: "Cut", method: "PATCH", bytes: 100 }], {}, "TransportFailure"],
    "an upload that is gone": [[{ _tag: "Status", method: "PATCH", status: 410 }, ...away], {}, "UploadGone"],
    "parts that are not put together": [
      [{ _tag: "NoAnswer", method: "FINAL" }, ...away],
      { parallel: 2 },
      "CreationUnknown"
    ]
  }

  for (const [what, [faults, options, tag]] of Object.entries(cases)) {
    it.effect(`tells the host of ${what}, and no path`, function* () {
      const { server, target } = yield* Scene.make(faults)
      const error = yield* Effect.flip(
        Upload.run(target, options.parallel === undefined ? source : parts, {
          ...Scene.options,
          maxRetries: 0,
          ...options
        })
      )
      assert.strictEqual(error._tag, tag, error.message)
      assert.propertyVal(error, "host", new URL(server.tusUrl).host)
      assert.notMatch(`${error.message} ${JSON.stringify(error)}`, /resumable|assemblies/)
    })
  }

  it.effect.each(["POST", "FINAL"] as const)(
    "has the error of the request %s whose answer was lost, also in its JSON form",
    function* (method) {
      const json = Schema.fromJsonString(Schema.toCodecJson(TusError.UploadError))
      const { target } = yield* Scene.make([{ _tag: "NoAnswer", method }, ...away])
      const options = { ...Scene.options, parallel: method === "FINAL" ? 2 : 1 } as const
      const error = yield* Effect.flip(Upload.run(target, parts, options))
      if (error._tag !== "CreationUnknown") return assert.fail(error.message)
      assert.deepInclude(error.cause, { _tag: "Stalled", request: "create" })
      const decoded = yield* Schema.decodeEffect(json)(yield* Schema.encodeEffect(json)(error))
      assert.deepInclude(decoded, { _tag: error._tag, description: error.description })
      assert.deepStrictEqual(decoded.cause, { _tag: "Stalled", message: error.cause?.message })
    }
  )

  it.effect("has the code of the server and the id of the request", function* () {
    for (const [status, tag] of [
      [400, "UploadRefused"],
      [404, "UploadGone"],
      [409, "OffsetConflict"],
      [413, "TooLarge"],
      [423, "UploadLocked"],
      [460, "ChecksumMismatch"],
      [500, "ServerFailure"],
      [302, "ProtocolViolation"]
    ] as const) {
      const { server, target } = yield* Scene.make([
        { _tag: "Status", method: "PATCH", status, headers, body },
        // After 413, a smaller request follows.
        ...(status === 413 ? [{ _tag: "Status", method: "PATCH", status, headers, body } as const] : []),
        ...away
      ])
      const error = yield* Effect.flip(Upload.run(target, source, { ...Scene.options, maxRetries: 0 }))
      assert.deepInclude(error, {
        _tag: tag,
        request: "append",
        host: new URL(server.tusUrl).host,
        requestId: "r-1",
        // The body of a redirect is not read.
        ...(status === 302 ? undefined : { code: "ERR_X" })
      })
    }
    const { target } = yield* Scene.make([{ _tag: "Status", method: "POST", status: 429, headers, body }])
    const limited = yield* Effect.flip(Upload.run(target, source, { ...Scene.options, maxRetries: 0 }))
    assert.deepInclude(limited, { _tag: "RateLimited", operation: "Tus.create", code: "ERR_X", requestId: "r-1" })
  })
})
