import { AssemblyStatistics } from "@assembly-effect/schema"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Schema } from "effect"
import { accepted, accepts, onDecode, onEncode, sample, without } from "./support.ts"

/** The fields of a table of the specification: integers, and numbers with a fraction. */
const row = (integers: string, fractions: string): Readonly<Record<string, unknown>> => ({
  ...Object.fromEntries(integers.split(" ").map((key) => [key, 4096])),
  ...Object.fromEntries(fractions.split(" ").map((key) => [key, 1.5]))
})

const bucket = row(
  "data_from_ts avg_input_file_sizes avg_output_file_sizes num_assemblies num_bytes num_cancelled_assemblies " +
    "num_erroneous_assemblies num_files num_request_aborted_assemblies num_successful_assemblies total_bytes_usage " +
    "total_num_output_files total_num_uploaded_bytes total_output_file_sizes",
  "avg_execution_duration avg_live_queue_duration avg_processing_speed avg_upload_duration avg_upload_speed " +
    "total_execution_duration total_live_queue_duration total_upload_duration"
)
const errorBucket = { data_from_ts: 1_767_225_600, error: "ASSEMBLY_CRASHED", num_erroneous_assemblies: 1 }
const errorTotal = { error: "ASSEMBLY_CRASHED", num_erroneous_assemblies: 1 }
const response = {
  ok: "ASSEMBLY_STATS_FOUND",
  granularity: 3600,
  stats: [bucket],
  errorStatsGranularity: 86_400,
  errorStats: [errorBucket],
  errorStatsTotals: [errorTotal],
  ...row(
    "totalAssemblies totalBytesProcessed totalBytesUploaded totalFilesProcessed totalOutputBytesProcessed " +
      "totalOutputFilesProcessed totalUsage",
    "totalExecutionDuration totalLiveQueueDuration totalUploadDuration"
  )
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
    const [received = ""] = onDecode(AssemblyStatistics.StatisticsStrict, places[1])
    assert.match(received, /^stats\.0\.added: Unknown key, expected/)
    const [passed = ""] = onEncode(AssemblyStatistics.StatisticsStrict, places[3])
    assert.match(passed, /^errorStatsTotals\.0\.added: Unknown key/)
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
        const expected = Schema.encodeSync(plain)(decoded)
        assert.deepStrictEqual(Schema.encodeSync(AssemblyStatistics.Statistics)(decoded), expected)
      }
    }
    for (const value of sample(Arbitrary.schema(plain), 100)) same(Schema.encodeSync(plain)(value))
    const more = { ...bucket, added: 1 }
    for (const bad of [null, [], 5, {}, more, without(bucket, "num_files"), without(more, "num_files")]) {
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
    const expected = Schema.toJsonSchemaDocument(AssemblyStatistics.Statistics.fields.stats).schema
    assert.deepStrictEqual(Schema.toJsonSchemaDocument(Schema.Array(AssemblyStatistics.StatsBucket)).schema, expected)
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
