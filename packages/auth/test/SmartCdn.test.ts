import { Credentials, SmartCdn } from "@assembly-effect/auth"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Transloadit } from "@transloadit/node"
import { DateTime, Effect, Exit, Layer, Redacted, Schema } from "effect"
import { TestClock } from "effect/testing"
import { inspect } from "node:util"

/** Credentials that a program provides directly, without validation. */
const smartCdn = (key: string, secret: string) =>
  SmartCdn.layer.pipe(Layer.provide(Layer.succeed(Credentials.Credentials, { key, secret: Redacted.make(secret) })))

const cdn = smartCdn("k", "s3cr3t")

const request: Parameters<typeof SmartCdn.signedUrl>[0] = {
  workspace: "my-workspace",
  template: "thumbnails",
  input: "photos/cat.jpg",
  expiresAt: 1_893_456_000_000
}

/** The paths and messages of the refused fields. */
const refusedFields = (input: unknown) =>
  SmartCdn.signedUrl(input as Parameters<typeof SmartCdn.signedUrl>[0]).pipe(
    Effect.flip,
    Effect.map(({ issues }) => issues.map(({ path }) => path.join(".")))
  )

const matching = (pattern: RegExp) => Schema.String.check(Schema.isPattern(pattern))
const wellFormed = matching(/^[^\ud800-\udfff]{0,12}$/u)
const segment = wellFormed.check(Schema.makeFilter((text) => text !== "." && text !== ".."))
const value = Schema.Union([wellFormed, Schema.Finite, Schema.Boolean])

const generated = Schema.Struct({
  workspace: matching(/^[A-Za-z0-9_-]{1,20}$/u),
  template: segment.check(Schema.isNonEmpty()),
  input: segment,
  urlParams: Schema.optionalKey(
    Schema.Record(
      wellFormed.check(Schema.makeFilter((name) => !["auth_key", "exp", "sig"].includes(name))),
      Schema.Union([value, Schema.Array(value).check(Schema.isMaxLength(4))])
    )
  ),
  expiresAt: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8.64e15 }))
})

describe("SmartCdn.signedUrl", () => {
  // T='my-workspace/thumbnails/photos%2Fcat%20%26%20dog.jpg?auth_key=k&exp=1893456000000&f=avif&f=webp'
  // T="$T&lang=%C3%A4+%E2%82%AC&retina=true&w=640"
  // printf '%s' "$T" | openssl dgst -sha256 -hmac 'schlüssel'
  it.effect(
    "encodes the path, repeats a list, sorts the parameters, signs with UTF-8 bytes",
    smartCdn("k", "schlüssel"),
    function* () {
      const url = yield* SmartCdn.signedUrl({
        ...request,
        input: "photos/cat & dog.jpg",
        urlParams: { w: 640, retina: true, f: ["avif", "webp"], lang: "ä €", none: [] }
      })
      assert.strictEqual(
        url,
        "https://my-workspace.tlcdn.com/thumbnails/photos%2Fcat%20%26%20dog.jpg?auth_key=k&exp=1893456000000" +
          "&f=avif&f=webp&lang=%C3%A4+%E2%82%AC&retina=true&w=640" +
          "&sig=sha256%3A01f5d4fbcdfe71de588eb9599cd115468c767600bd726e27df1c70a3ffd0ae47"
      )
    }
  )

  // printf '%s' 'w/t/?auth_key=k%26%2B&exp=3600000' | openssl dgst -sha256 -hmac s3cr3t
  it.effect(
    "sets exp to an hour from now by default, and accepts an empty input",
    smartCdn("k&+", "s3cr3t"),
    function* () {
      const url = yield* SmartCdn.signedUrl({ workspace: "w", template: "t", input: "" })
      assert.strictEqual(
        url,
        "https://w.tlcdn.com/t/?auth_key=k%26%2B&exp=3600000" +
          "&sig=sha256%3A48ebff94a37e2df04cbed76c8cd1681f970a63f9268b8d4c651af5e808c7732b"
      )
      yield* TestClock.adjust("1 minute")
      assert.include(yield* SmartCdn.signedUrl({ workspace: "w", template: "t", input: "" }), "exp=3660000&")
    }
  )

  it.effect("takes expiresAt in milliseconds and as a DateTime in any zone", cdn, function* () {
    const expected = yield* SmartCdn.signedUrl(request)
    const moment = DateTime.makeUnsafe(1_893_456_000_000)
    for (const expiresAt of [moment, DateTime.makeZonedUnsafe(moment, { timeZone: "Asia/Tokyo" })]) {
      assert.strictEqual(yield* SmartCdn.signedUrl({ ...request, expiresAt }), expected)
    }
  })

  it.effect.prop(
    "returns the same URL as @transloadit/node for every valid request",
    [generated, Schema.NonEmptyString, Schema.NonEmptyString],
    ([input, key, secret]) =>
      Effect.gen(function* () {
        const official = new Transloadit({ authKey: key, authSecret: secret })
        const { urlParams, ...rest } = input
        const expected = official.getSignedSmartCDNUrl({
          ...rest,
          ...(urlParams === undefined ? {} : { urlParams: urlParams as Record<string, string> })
        })
        const url = yield* SmartCdn.signedUrl(input)
        assert.strictEqual(url, expected)
        assert.strictEqual(new URL(url).hostname, `${input.workspace.toLowerCase()}.tlcdn.com`)
        assert.strictEqual(new URL(url).pathname.split("/").length, 3)
      }).pipe(Effect.provide(smartCdn(key, secret)))
  )

  it.effect.each([
    ["workspace", { workspace: "" }],
    ["workspace", { workspace: "evil.example/#" }],
    ["workspace", { workspace: "a".repeat(64) }],
    ["workspace", { workspace: undefined }],
    ["template", { template: "" }],
    ["template", { template: "\ud800" }],
    ["input", { input: ".." }],
    ["input", { input: "a\udc00" }],
    ["input", { input: null }],
    ["urlParams.auth_key", { urlParams: { auth_key: "x" } }],
    ["urlParams.sig", { urlParams: { sig: ["x"] } }],
    ["urlParams.w", { urlParams: { w: Number.NaN } }],
    ["urlParams.w.1", { urlParams: { w: [1, {}] } }],
    ["urlParams.w", { urlParams: { w: "\ud800" } }],
    ["urlParams.\ud800", { urlParams: { "\ud800": 1 } }],
    ["expiresAt", { expiresAt: 0 }],
    ["expiresAt", { expiresAt: 1.5 }],
    ["expiresAt", { expiresAt: Number.NaN }],
    ["expiresAt", { expiresAt: 8.64e15 + 1 }],
    ["expiresAt", { expiresAt: DateTime.makeUnsafe(-1) }],
    ["expiresAt", { expiresAt: null }],
    ["urlParams", { urlParams: null }],
    ["urlParams", { urlParams: "ab" }],
    ["urlParams", { urlParams: [["w", 1]] }],
    ["urlParams.w.0", { urlParams: { w: Array(1) } }]
  ] as const)("refuses an invalid %s: %j", cdn, function* ([field, change]) {
    assert.deepStrictEqual(yield* refusedFields({ ...request, ...change }), [field])
  })

  it.effect.each([null, undefined, "text", 5])("refuses %j instead of a request", cdn, function* (input) {
    const error = yield* Effect.flip(SmartCdn.signedUrl(input as never))
    assert.strictEqual(error.message, "SmartCdn.signedUrl: Expected object")
  })

  it.effect("fails with InvalidRequest that names every invalid field and its rule", cdn, function* () {
    const error = yield* Effect.flip(
      SmartCdn.signedUrl({ workspace: "a b", template: "", input: "..", urlParams: { sig: "x" }, expiresAt: 0 })
    )
    assert.strictEqual(error._tag, "InvalidRequest")
    assert.strictEqual(
      error.message,
      "SmartCdn.signedUrl: workspace: Expected 1 to 63 letters, digits, hyphens and underscores, " +
        "because it is a part of the host name; template: Expected a non-empty text in valid Unicode, other than . " +
        "and ..; input: Expected a text in valid Unicode, other than . and ..; urlParams.sig: Expected a name in " +
        "valid Unicode, other than auth_key, exp and sig, which the signature uses; expiresAt: Expected a DateTime after 1970, or a whole " +
        "number of milliseconds since 1970"
    )
  })

  it.effect("shows no secret in the inspected service and in the URL, and dies with an empty secret", function* () {
    const service = yield* SmartCdn.SmartCdn.pipe(Effect.provide(cdn))
    assert.notInclude(inspect(service, { depth: Infinity, showHidden: true }), "s3cr3t")
    assert.notInclude(yield* service.signedUrl(request), "s3cr3t")
    assert.isTrue(Exit.hasDies(yield* Effect.exit(Effect.scoped(Layer.build(smartCdn("k", ""))))))
  })
})
