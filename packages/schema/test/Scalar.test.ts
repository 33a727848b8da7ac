import { Identifier } from "@assembly-effect/schema"
import * as Field from "@assembly-effect/schema/unstable/Field"
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import { Timestamp } from "@assembly-effect/schema/unstable/Timestamp"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import * as Dates from "../src/internal/date.ts"
import { accepted, onDecode, onEncode } from "./support.ts"

describe("JSON Schema", () => {
  it("of a rule in a pattern has the pattern", () => {
    const { schema } = Schema.toJsonSchemaDocument(Identifier.FolderId)
    assert.deepStrictEqual<unknown>(schema, { type: "string", pattern: "^[A-Za-z0-9_-]{21}[AQgw]$" })
  })

  it("of a number has its bounds", () => {
    assert.deepStrictEqual<unknown>(Schema.toJsonSchemaDocument(Field.NonNegativeInt).schema, {
      type: "integer",
      minimum: 0
    })
  })
})

describe("Timestamp", () => {
  const decode = Schema.decodeUnknownSync(Timestamp)

  it("ends in Z with optional seconds and fraction (spec R-27)", () => {
    const moment = "2026-01-01T10:00:00"
    const fractions = [".1", ".123456789", ".1234567890123"].map((fraction) => `${moment}${fraction}Z`)
    const valid = ["2026-01-01T10:00Z", `${moment}Z`, ...fractions, "2024-02-29T23:59:59Z", "0001-01-01T00:00Z"]
    const zones = ["", "+00:00", "-05:00", ".Z"].map((zone) => `${moment}${zone}`)
    const times = ["T24:00:00Z", "T10:60:00Z", "T10:00:60Z", "T10Z", "", " 10:00:00Z", "t10:00:00z"]
    const invalid = [...zones, ...times.map((time) => `2026-01-01${time}`), "26-01-01T10:00:00Z", ""]
    assert.deepStrictEqual(accepted(Timestamp, [...valid, ...invalid]), valid)
  })

  it("is a valid calendar date (spec R-27)", () => {
    const days = ["2026-02-29", "2026-02-30", "2026-04-31", "2026-00-01", "2026-13-01", "2026-01-00", "2026-01-32"]
    const moments = days.map((day) => `${day}T10:00:00Z`)
    assert.deepStrictEqual(accepted(Timestamp, moments), [])
    assert.deepStrictEqual(onDecode(Timestamp, "2026-02-30T10:00:00Z"), ["Expected a valid calendar date"])
  })

  it("keeps its text and names the instant (spec R-27)", () => {
    const timestamp = decode("2026-01-01T10:00:00.123456Z")
    assert.strictEqual(timestamp.text, "2026-01-01T10:00:00.123456Z")
    assert.strictEqual(DateTime.formatIso(timestamp.instant), "2026-01-01T10:00:00.123Z")
    assert.strictEqual(Schema.encodeSync(Timestamp)(timestamp), "2026-01-01T10:00:00.123456Z")
    const other = { ...timestamp, instant: DateTime.makeUnsafe("2026-01-01T10:00:00.124Z") }
    assert.deepStrictEqual(onEncode(Timestamp, other), ["Expected Timestamp"])
  })
})

describe("FromDate and ToDate", () => {
  const encode = (schema: typeof Dates.FromDate, date: string) => Schema.encodeSync(schema)(DateTime.makeUnsafe(date))

  it("round a fraction of a second down and up, so that the window never gets smaller (spec O-17)", () => {
    for (const date of ["2026-01-01T10:00:00.001Z", "2026-01-01T10:00:00.500Z", "2026-01-01T10:00:00.999Z"]) {
      assert.strictEqual(encode(Dates.FromDate, date), "2026-01-01 10:00:00")
      assert.strictEqual(encode(Dates.ToDate, date), "2026-01-01 10:00:01")
    }
    assert.strictEqual(encode(Dates.FromDate, "1969-12-31T23:59:58.500Z"), "1969-12-31 23:59:58")
    assert.strictEqual(encode(Dates.ToDate, "2026-12-31T23:59:59.001Z"), "2027-01-01 00:00:00")
  })

  it("stay in the years 0000 to 9999 when rounded", () => {
    const last = DateTime.makeUnsafe("9999-12-31T23:59:59.500Z")
    assert.strictEqual(Schema.encodeSync(Dates.FromDate)(last), "9999-12-31 23:59:59")
    assert.deepStrictEqual(onEncode(Dates.ToDate, last), ["Expected a UTC date-time, years 0000 to 9999"])
    assert.deepStrictEqual(onEncode(Dates.FromDate, DateTime.makeUnsafe(-62_167_219_200_001)), [
      "Expected a UTC date-time, years 0000 to 9999"
    ])
  })
})

describe("SecureUrl", () => {
  it("is https, http on loopback only, without user info, query, fragment and backslash (spec A-11)", () => {
    const loopback = ["http://127.0.0.1:8080", "http://localhost/a/b", "http://[::1]:1"]
    const valid = ["https://api2.example.com", "https://[::1]/a", ...loopback]
    const hosts = ["user@example.com", "user:secret@example.com", "@example.com", "exa mple.com", ""]
    const ends = ["?a=1", "#a", "?", "#", "a\\b", "\n", "\u0000", "\u007f", "\u0085"]
    const insecure = ["http://api2.example.com", "http://127.0.0.1.example.com", "ftp://example.com", "//example.com"]
    const invalid = [
      ...hosts.concat(ends.map((end) => `example.com/${end}`)).map((rest) => `https://${rest}`),
      ...insecure.concat("https:\\\\example.com", "")
    ]
    assert.deepStrictEqual(accepted(SecureUrl.SecureUrl, [...valid, ...invalid]), valid)
  })
})
