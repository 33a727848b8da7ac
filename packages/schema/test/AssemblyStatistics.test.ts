import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import { accepted, accepts, onDecode, onEncode, sample, without } from "./support.ts"

const bucket = {
  data_from_ts: 1_767_225_600,
  avg_execution_duration: 1.5,
  avg_input_file_sizes: 1024,
  avg_live_queue_duration: 0,
  avg_output_file_sizes: 2048,
  avg_processing_speed: 12.25,
  avg_upload_duration: 0.1,
  avg_upload_speed: 3.5,
  num_assemblies: 4,
  num_bytes: 4096,
  num_cancelled_assemblies: 0,
  num_erroneous_assemblies: 1,
  num_files: 4,
  num_request_aborted_assemblies: 0,
  num_successful_assemblies: 3,
  total_bytes_usage: 8192,
  total_execution_duration: 6.5,
  total_live_queue_duration: 0,
  total_num_output_files: 4,
  total_num_uploaded_bytes: 4096,
  total_output_file_sizes: 8192,
  total_upload_duration: 0.4
}
const errorBucket = { data_from_ts: 1_767_225_600, error: "ASSEMBLY_CRASHED", num_erroneous_assemblies: 1 }
const errorTotal = { error: "ASSEMBLY_CRASHED", num_erroneous_assemblies: 1 }
const response = {
  ok: "ASSEMBLY_STATS_FOUND",
  granularity: 3600,
  stats: [bucket],
  errorStatsGranularity: 86_400,
  errorStats: [errorBucket],
  errorStatsTotals: [errorTotal],
  totalAssemblies: 4,
  totalBytesProcessed: 8192,
  totalBytesUploaded: 4096,
  totalExecutionDuration: 6.5,
  totalFilesProcessed: 4,
  totalLiveQueueDuration: 0,
  totalOutputBytesProcessed: 8192,
  totalOutputFilesProcessed: 4,
  totalUploadDuration: 0.4,
  totalUsage: 8192
}

describe("Statistics", () => {
  it("decodes the response to itself (spec R-4)", () => {
    assert.deepStrictEqual(Schema.decodeUnknownSync(AssemblyStatistics.Statistics)(response) as object, response)
  })

  it("tolerates an added field, and refuses it in strict form (spec R-7)", () => {
    const places = [
      { ...response, added: 1 },
      { ...response, stats: [{ ...bucket, added: 1 }] },
      { ...response, errorStats: [{ ...errorBucket, added: 1 }] },
      { ...response, errorStatsTotals: [{ ...errorTotal, added: 1 }] }
    ]
    assert.deepStrictEqual(accepted(AssemblyStatistics.Statistics, places), places)
    assert.deepStrictEqual(accepted(AssemblyStatistics.StatisticsStrict, [response, ...places]), [response])
    assert.match(
      onDecode(AssemblyStatistics.StatisticsStrict, places[1])[0]!,
      /^stats\.0\.added: Unknown key, expected/
    )
    assert.match(
      onEncode(AssemblyStatistics.StatisticsStrict, places[3])[0]!,
      /^errorStatsTotals\.0\.added: Unknown key/
    )
  })
})

describe("the short way of statistics", () => {
  it("decodes and refuses as the struct of a bucket does", () => {
    const plain = Schema.Struct({
      ...AssemblyStatistics.Statistics.fields,
      stats: Schema.Array(AssemblyStatistics.StatsBucket)
    })
    const same = (wire: unknown) => {
      assert.deepStrictEqual(onDecode(AssemblyStatistics.Statistics, wire), onDecode(plain, wire))
      if (accepts(plain, wire)) {
        const decoded = Schema.decodeUnknownSync(AssemblyStatistics.Statistics)(wire)
        assert.deepStrictEqual(decoded, Schema.decodeUnknownSync(plain)(wire))
        assert.deepStrictEqual(
          Schema.encodeSync(AssemblyStatistics.Statistics)(decoded),
          Schema.encodeSync(plain)(decoded)
        )
      }
    }
    for (const value of sample(Arbitrary.schema(plain), 100)) same(Schema.encodeSync(plain)(value))
    for (const bad of [
      null,
      [],
      5,
      {},
      { ...bucket, added: 1 },
      without(bucket, "num_files"),
      without({ ...bucket, added: 1 }, "num_files")
    ]) {
      same({ ...response, stats: [bucket, bad] })
    }
    for (const key of Object.keys(bucket)) {
      for (const value of [-1, 0, -0, 0.5, 1e21, Infinity, NaN, "1", null, undefined, true]) {
        same({ ...response, stats: [{ ...bucket, [key]: value }] })
      }
    }
    const inherited: unknown = Object.create(bucket)
    same({ ...response, stats: [inherited] })
  })

  it("has the JSON Schema of a bucket", () => {
    assert.deepStrictEqual(
      Schema.toJsonSchemaDocument(Schema.Array(AssemblyStatistics.StatsBucket)).schema,
      Schema.toJsonSchemaDocument(AssemblyStatistics.Statistics.fields.stats).schema
    )
  })
})

describe("Query", () => {
  const decode = Schema.decodeUnknownSync(AssemblyStatistics.Query)
  const encode = Schema.encodeUnknownSync(AssemblyStatistics.Query)

  it("sends since unchanged as text, a DateTime as ISO 8601 (spec O-7)", () => {
    for (const since of ["2026-01-01", "91 days ago", " x ", "2026-01-01T00:00:00+02:00"]) {
      assert.deepStrictEqual(encode({ region: "all", since }), { region: "all", since })
    }
    const since = DateTime.makeUnsafe("2026-01-01T00:00:00.123Z")
    assert.deepStrictEqual(encode({ region: "all", since }), { region: "all", since: "2026-01-01T00:00:00.123Z" })
  })

  it("reads null, an empty string and no_template as no Template (spec O-8)", () => {
    for (const none of [{}, { template_id: null }, { template_id: "" }, { template_id: "no_template" }]) {
      assert.deepStrictEqual(decode({ region: "all", since: "x", ...none }), { region: "all", since: "x" })
    }
    for (const templateId of ["all", "0b4a1ee0a4f94f4d8a7a1d1c0a5b6c7d"]) {
      const query = { region: "eu-west-1", since: "x", templateId }
      const wire = { region: "eu-west-1", since: "x", template_id: templateId }
      assert.deepStrictEqual(decode(wire), query)
      assert.deepStrictEqual(encode(query), wire)
    }
  })

  it("refuses unknown keys without a parse option, together with all other issues (spec O-3)", () => {
    assert.deepStrictEqual(onDecode(AssemblyStatistics.Query, { region: "", since: 5, templateId: "a", auth: {} }), [
      "region: Expected at least 1 character",
      "since: Expected string",
      "templateId: Unknown key, expected one of region, since, template_id",
      "auth: Unknown key, expected one of region, since, template_id"
    ])
    assert.deepStrictEqual(onEncode(AssemblyStatistics.Query, { region: "all", since: "x", template_id: "a" }), [
      "template_id: Unknown key, expected one of region, since, templateId"
    ])
    const hostile: unknown = JSON.parse('{"region":"all","since":"x","__proto__":1,"constructor":2}')
    assert.strictEqual(onDecode(AssemblyStatistics.Query, hostile).length, 2)
  })

  it("refuses unknown keys however it is used (spec O-3)", () => {
    const query = { region: "all", since: "x" }
    assert.isTrue(Schema.is(AssemblyStatistics.Query)(query))
    assert.isFalse(Schema.is(AssemblyStatistics.Query)({ ...query, other: 1 }))
    assert.throws(() => AssemblyStatistics.Query.make(Object.assign({}, query, { other: 1 })))
    assert.throws(() => decode({ ...query, other: 1 }))
    assert.isFalse(accepts(Schema.toCodecJson(AssemblyStatistics.Query), { ...query, other: 1 }))
    const { schema } = Schema.toJsonSchemaDocument(AssemblyStatistics.Query)
    assert.deepStrictEqual(schema["patternProperties"], { "^(?!(?:region|since|template_id)$)": false })
  })
})
