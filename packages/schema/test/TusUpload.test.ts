import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { accepted, accepts, onDecode, without } from "./support.ts"

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

describe("UploadPath", () => {
  it("is /resumable/files/ and one or more segments, without dot and encoded segments (spec R-28)", () => {
    const valid = ["/resumable/files/a", "/resumable/files/a/b", "/resumable/files/a.b+c"]
    const invalid = [
      "/resumable/files",
      "/resumable/files/",
      "/resumable/files/a/",
      "/resumable/files/.",
      "/resumable/files/a/..",
      "/resumable/files/%61",
      "/a"
    ]
    assert.deepStrictEqual(accepted(TusUpload.UploadPath, [...valid, ...invalid]), valid)
  })
})

describe("Creation", () => {
  const decode = Schema.decodeUnknownSync(TusUpload.Creation)
  const encode = Schema.encodeSync(TusUpload.Creation)
  const Cases = TusUpload.Creation.to.cases

  it("writes the headers of a fixed length (spec O-36, O-39)", () => {
    const creation = Cases.Fixed.make({ metadata, length: 5n })
    assert.deepStrictEqual(encode(creation), { ...base, "upload-length": "5" })
    assert.deepStrictEqual(encode({ ...creation, partial: true, withBody: true }), {
      ...base,
      "upload-length": "5",
      "upload-concat": "partial",
      "content-type": "application/offset+octet-stream"
    })
    assert.deepStrictEqual(decode(encode(creation)), creation)
  })

  it("writes the headers of a deferred length (spec O-37)", () => {
    const creation = Cases.Deferred.make({ metadata, partial: true })
    const headers = { ...base, "upload-defer-length": "1", "upload-concat": "partial" }
    assert.deepStrictEqual(encode(creation), headers)
    assert.deepStrictEqual(decode(headers), creation)
  })

  it("writes the headers of a final upload in the order of its parts (spec O-38, O-47)", () => {
    const creation = Cases.Final.make({
      metadata,
      parts: ["/resumable/files/b", "https://tus.example.com/resumable/files/a"]
    })
    const headers = { ...base, "upload-concat": "final;/resumable/files/b https://tus.example.com/resumable/files/a" }
    assert.deepStrictEqual(encode(creation), headers)
    assert.deepStrictEqual(decode(headers), creation)
  })

  it("ignores headers of HTTP", () => {
    assert.isTrue(
      accepts(TusUpload.Creation, { ...base, "upload-length": "5", host: "example.com", "content-length": "0" })
    )
  })

  it("has the same three forms as wire headers", () => {
    const valid = [
      { ...base, "upload-length": "5" },
      { ...base, "upload-defer-length": "1" },
      { ...base, "upload-concat": "final;/resumable/files/a" }
    ]
    const invalid = [base, { ...valid[0], ...valid[1] }, { ...valid[0], ...valid[2] }, { ...valid[1], ...valid[2] }]
    assert.deepStrictEqual(accepted(TusUpload.CreationHeaders, [...valid, ...invalid]), valid)
  })
})

describe("responses and PATCH", () => {
  const created = { location: "https://tus.example.com/resumable/files/a", "tus-resumable": "1.0.0" }
  const nosniff = { "x-content-type-options": "nosniff" }

  it("have location and tus-resumable after a creation, and an optional offset (spec O-49, V-1)", () => {
    assert.isTrue(accepts(TusUpload.Created, created))
    assert.isTrue(accepts(TusUpload.Created, { ...created, "upload-offset": "5" }))
    assert.deepStrictEqual(
      onDecode(TusUpload.Created, { "tus-resumable": "1.0.1", location: "", "upload-offset": "05" }),
      [
        "location: Expected at least 1 character",
        'tus-resumable: Expected "1.0.0"',
        "upload-offset: Expected an unsigned base-10 integer without leading zeros"
      ]
    )
    assert.deepStrictEqual(onDecode(TusUpload.Created, without(created, "location")), ["location: Missing key"])
  })

  it("have nosniff in strict form (spec O-50)", () => {
    assert.deepStrictEqual(onDecode(TusUpload.CreatedStrict, created), ["x-content-type-options: Missing key"])
    assert.isTrue(accepts(TusUpload.CreatedStrict, { ...created, ...nosniff }))
  })

  it("return an error as plain text with tus-resumable and nosniff (spec E-18)", () => {
    const headers = { "content-type": "text/plain; charset=utf-8", "tus-resumable": "1.0.0", ...nosniff }
    assert.isTrue(accepts(TusUpload.ErrorHeadersStrict, headers))
    for (const key of Object.keys(headers)) {
      assert.deepStrictEqual(onDecode(TusUpload.ErrorHeadersStrict, without(headers, key)), [`${key}: Missing key`])
    }
    assert.isFalse(accepts(TusUpload.ErrorHeadersStrict, { ...headers, "content-type": "application/json" }))
  })

  it("report the offset of an upload (spec O-52)", () => {
    const head = { "tus-resumable": "1.0.0", "upload-offset": "5" }
    assert.isTrue(accepts(TusUpload.OffsetHeaders, { ...head, "upload-length": "10", "upload-metadata": header }))
    assert.isTrue(accepts(TusUpload.OffsetHeaders, { ...head, "upload-defer-length": "1" }))
    assert.isTrue(accepts(TusUpload.Appended, head))
    assert.isFalse(accepts(TusUpload.Appended, without(head, "upload-offset")))
  })
})
