import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { accepted } from "./support.ts"

type Codec = Schema.ConstraintCodec<unknown, unknown>

const assemblyUrl = "https://api2.example.com/assemblies/0123456789abcdef0123456789abcdef"
const metadata = { assembly_url: assemblyUrl, filename: "a.jpg", fieldname: "file" }
const header = `assembly_url ${btoa(assemblyUrl)},filename YS5qcGc=,fieldname ZmlsZQ==`
const base = { "tus-resumable": "1.0.0", "upload-metadata": header }

describe("UploadLength", () => {
  it("is exact beyond 2^53", () => {
    assert.strictEqual(Schema.decodeUnknownSync(TusUpload.UploadLength)("9007199254740993"), 9_007_199_254_740_993n)
    assert.strictEqual(Schema.encodeSync(TusUpload.UploadLength)(2n ** 63n - 1n), "9223372036854775807")
  })
})

describe("Metadata", () => {
  const decode = Schema.decodeUnknownSync(TusUpload.Metadata)
  const encode = Schema.encodeUnknownSync(TusUpload.Metadata)

  it("is comma-separated keys with Base64 values (spec O-41)", () => {
    assert.strictEqual(encode(metadata), header)
    assert.deepStrictEqual(decode(header) as object, metadata)
  })

  it("has a key without a value as null, and an empty value as an empty text (spec O-43)", () => {
    assert.strictEqual(encode({ ...metadata, is_final: null, empty: "" }), `${header},is_final,empty `)
    assert.deepStrictEqual(decode(`${header},is_final,empty `) as object, { ...metadata, is_final: null, empty: "" })
  })

  it("reads Base64 with unused last bits, and writes it in canonical form (spec O-44)", () => {
    assert.deepStrictEqual(decode(`${header},k YR==`) as object, { ...metadata, k: "a" })
    assert.strictEqual(encode(decode(`${header},k YR==`)), `${header},k YQ==`)
  })

  it("refuses a repeated key, with or without values", () => {
    const repeated = ["a eA==,a eQ==", "a eA==,a eA==", "a,a eQ==", "a eA==,a", "a,a", "filename YQ=="]
    assert.deepStrictEqual(accepted(TusUpload.Metadata, [header, ...repeated.map((end) => `${header},${end}`)]), [
      header
    ])
  })

  it("keeps keys that JavaScript treats specially", () => {
    const hostile = `${header},__proto__ YQ==,constructor Yg==,toString`
    const decoded = decode(hostile)
    assert.deepStrictEqual(Object.keys(decoded).slice(3), ["__proto__", "constructor", "toString"])
    assert.strictEqual(encode(decoded), hostile)
  })

  it.effect.prop(
    "round-trips any UTF-8 filename (spec O-41)",
    [
      Schema.String.check(
        Schema.isNonEmpty(),
        Schema.makeFilter((text) => text.isWellFormed())
      )
    ],
    ([filename]) =>
      Effect.sync(() =>
        assert.deepStrictEqual(decode(encode({ ...metadata, filename })) as object, { ...metadata, filename })
      )
  )

  it("keeps a byte order mark and every control character", () => {
    const filename = "\ufeffa\u0000\n\u2028.jpg"
    assert.strictEqual(decode(encode({ ...metadata, filename })).filename, filename)
  })
})

describe("the headers of a creation", () => {
  it.each([
    [
      "of a fixed length (spec O-36, O-39)",
      TusUpload.FixedHeaders,
      { "upload-length": "5", "upload-concat": "partial", "content-type": "application/offset+octet-stream" },
      { "upload-length": 5n }
    ],
    ["of a deferred length (spec O-37)", TusUpload.DeferredHeaders, { "upload-defer-length": "1" }, {}],
    [
      "of a final upload, in the order of its parts (spec O-38, O-47)",
      TusUpload.FinalHeaders,
      { "upload-concat": "final;/resumable/files/b https://tus.example.com/resumable/files/a" },
      {}
    ]
  ])("%s decode without those of HTTP, and encode to themselves", (_, schema: Codec, own, different) => {
    const headers = { ...base, ...own }
    const decoded = Schema.decodeUnknownSync(schema)({ ...headers, host: "example.com", "content-length": "0" })
    assert.deepStrictEqual(decoded, { ...headers, "upload-metadata": metadata, ...different })
    assert.deepStrictEqual(Schema.encodeSync(schema)(decoded), headers)
  })
})
