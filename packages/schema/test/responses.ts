// The rules of responses, in the form of those of requests.
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Testing from "@assembly-effect/schema/testing"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as Part from "../src/internal/rules/parts.ts"
import { text, values } from "../src/internal/rules/rule.ts"
import { schemas } from "./table.ts"

/** The same rules of several required parts, whose keys are the same in both forms. */
const each = (keys: ReadonlyArray<string>, ...parts: ReadonlyArray<Part.Part>): Part.Part =>
  Part.all(
    ...keys.map(
      (key): Part.Part =>
        (at) =>
          Part.required(...parts)([...at, key])
    )
  )

const number = Part.is("is a number", values("1", null, true, []))

const wholeFrom = (least: number) =>
  Part.all(number, Part.is(`is an integer of at least ${least}`, values(least - 1, 1.5), { edge: values(least, 1e21) }))

const duration = Part.all(
  number,
  Part.is("is at least 0", values(-0.1), { edge: values(0, 0.5) }),
  Part.is("is finite", values(Infinity))
)

/** The rules of counts and of durations, by the names of a table of the specification. */
const measured = (keys: ReadonlyArray<string>): Part.Part => {
  const isDuration = (key: string) => /duration|speed/i.test(key)
  return Part.all(
    each(keys.filter(isDuration), duration),
    each(
      keys.filter((key) => !isDuration(key)),
      wholeFrom(0)
    )
  )
}

const constant = (value: string) => Part.is(`is ${value}`, values(`${value} `, "", null, 5))
const optionalHex = (digits: number) =>
  Part.all(
    Part.is(
      `is ${digits} lowercase hexadecimal digits`,
      values("0F".repeat(digits / 2), "0f".repeat(digits / 2 + 1), "0g".repeat(digits / 2), "")
    ),
    Part.string
  )

const identifier = Part.is("is an identifier", text("^[A-Za-z0-9_-]{21}[B-PR-Za-fh-vx-z0-9_-]$"))
const size = Part.integer(0, Number.MAX_SAFE_INTEGER)
const pixels = Part.integer(1, Number.MAX_SAFE_INTEGER)

const asset = Part.all(
  each(["asset_id", "version_id"], identifier),
  each(["workspace", "path"], Part.filled),
  each(["mime"], Part.is("is text or null", values(5, true))),
  each(["size"], size),
  Part.parts({
    width: pixels,
    height: pixels,
    has_alpha: Part.boolean,
    md5hash: optionalHex(32),
    sha256: optionalHex(64),
    thumbhash: Part.all(
      Part.is("is padded Base64", values("YQ", "YQ=", "YWI", "-_-_", "Y Q=", "=YQ=", "YQ==\n"), {
        edge: values("", "YQ==", "YWI=", "YWJj", "+/+/")
      }),
      Part.string
    )
  })
)

const errors = each(["error"], Part.filled)
const version = each(["tus-resumable"], constant("1.0.0"))
const offset = Part.all(
  Part.wire("is an unsigned integer", values("05", "-1", "", "a")),
  Part.wire("is below 2^63", values("9223372036854775808"))
)
const nosniff = each(["x-content-type-options"], constant("nosniff"))
const created = Part.all(version, each(["location"], Part.filled), Part.parts({ "upload-offset": offset }))

const table: ReadonlyArray<readonly [Schema.ConstraintCodec<unknown, unknown>, Part.Part]> = [
  [
    AssemblyStatistics.Statistics,
    Part.all(
      each(["ok"], constant("ASSEMBLY_STATS_FOUND")),
      each(["granularity", "errorStatsGranularity"], wholeFrom(1)),
      each(["stats", "errorStats", "errorStatsTotals"], Part.list),
      (at) => errors([...at, "errorStats", 0]),
      measured(Object.keys(AssemblyStatistics.Statistics.fields).filter((key) => key.startsWith("total")))
    )
  ],
  [AssemblyStatistics.StatsBucket, measured(Object.keys(AssemblyStatistics.StatsBucket.fields))],
  [AssemblyStatistics.ErrorBucket, Part.all(errors, measured(["data_from_ts", "num_erroneous_assemblies"]))],
  [AssemblyStatistics.ErrorTotal, Part.all(errors, measured(["num_erroneous_assemblies"]))],
  [DamAsset.Asset, asset],
  [
    DamAsset.Moved,
    Part.all(
      each(["ok"], constant("DAM_ASSET_MOVED")),
      each(["message", "filename", "path"], Part.filled),
      each(["asset_id"], identifier),
      each(["folder_id"], Part.is("is an identifier or null", values("", 5), { edge: values(null) })),
      each(["asset"], Part.object, asset),
      each(
        ["deleted_at", "updated_at"],
        Part.wire("is a date-time in UTC", values("", "2026-01-01", "2026-01-01T10:00:00+00:00")),
        Part.wire("is a time of the calendar", values("2026-02-30T10:00:00Z"))
      )
    )
  ],
  [TusUpload.Created, created],
  [TusUpload.CreatedStrict, Part.all(created, nosniff)],
  [
    TusUpload.ErrorHeadersStrict,
    Part.all(version, nosniff, each(["content-type"], constant("text/plain; charset=utf-8")))
  ],
  [TusUpload.Appended, Part.all(version, each(["upload-offset"], offset))],
  [
    TusUpload.OffsetHeaders,
    Part.all(
      version,
      each(["upload-offset"], offset),
      Part.parts({
        "upload-length": offset,
        "upload-defer-length": Part.wire("is 1", values("0", "", "true")),
        "upload-metadata": Part.string
      })
    )
  ]
]

/** Responses with the inputs that their rules make. */
export const responses = schemas.flatMap(([name, schema]) =>
  table
    .filter(([one]) => one === schema)
    .map(([, rules]) => {
      const valid = Arbitrary.schema(schema)
      return [name, schema, Testing.from(valid, Schema.encodeSync(schema), ...rules([]))] as const
    })
)
