import { describe, expect, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import * as Help from "../src/internal/help.ts"
import * as Text from "../src/internal/text.ts"

describe("Text.wrap", () => {
  it("breaks lines between words, but not inside of a command", () => {
    const text = "Run npx --no-install assembly keys update --scope … to see, or assembly doctor. Set it."
    const whole = Help.commandsOf("npx --no-install assembly")
    expect(Text.wrap(text, 24, { whole })).toEqual([
      "Run",
      "npx --no-install assembly keys update --scope …",
      "to see, or assembly",
      "doctor. Set it."
    ])
    expect(Text.wrap("see assembly wait abc", 14, { whole: Help.commandsOf("assembly") })).toEqual([
      "see",
      "assembly wait",
      "abc"
    ])
  })
})

describe("Text.bytes", () => {
  it.each([
    [0, "0 B"],
    [1, "1 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB"],
    [1536n, "1.5 KiB"],
    [1024 ** 2, "1.0 MiB"],
    [123_456_789n, "117.7 MiB"],
    [2n ** 63n - 1n, "8.0 EiB"],
    [1.4, "1 B"],
    [Number.POSITIVE_INFINITY, "∞"]
  ])("%s is %s", (value, text) => {
    expect(Text.bytes(value)).toBe(text)
  })

  it.prop("any size has a unit and at most ten characters below a YiB", { size: Schema.BigInt }, ({ size }) => {
    const value = size < 0n ? -size : size
    const text = Text.bytes(value)
    expect(text).toMatch(/^\d+(\.\d)? ([KMGTPEZY]i)?B$/)
    if (value < 2n ** 80n) expect(text.length).toBeLessThanOrEqual(10)
  })
})

describe("Text.shortBytes", () => {
  it.each([
    [1023, "1023 B"],
    [1536n, "1.5 KiB"],
    [300_000, "293 KiB"],
    [1000 * 1024 * 1024, "1000 MiB"]
  ])("%s is %s", (value, text) => {
    expect(Text.shortBytes(value)).toBe(text)
  })
})

describe("Text.shortDuration", () => {
  it.each([
    [0.1, "0.1s"],
    [65, "1m 5s"],
    [3599, "59m 59s"],
    [3600, "1h"],
    [90_000, "1d 1h"]
  ])("%s seconds are %s", (seconds, text) => {
    expect(Text.shortDuration(Duration.seconds(seconds))).toBe(text)
  })
})

describe("Text.rate", () => {
  it.each([
    [0, "0 B/s"],
    [999, "999 B/s"],
    [12_300, "12.0 KiB/s"],
    [812_340_000, "774.7 MiB/s"],
    [1_200_000_000, "1.1 GiB/s"]
  ])("%d is %s", (value, text) => {
    expect(Text.rate(value)).toBe(text)
  })
})

describe("Text.duration", () => {
  it.each([
    ["0 seconds", "0 s"],
    ["40 millis", "0 s"],
    ["1234 millis", "1.2 s"],
    ["9960 millis", "10 s"],
    ["59600 millis", "1 min"],
    ["65 seconds", "1 min 5 s"],
    ["1 hour", "1 h"],
    ["3605 seconds", "1 h"],
    ["90 minutes", "1 h 30 min"],
    ["49 hours", "2 d 1 h"],
    ["Infinity", "∞"]
  ] as const)("%s is %s", (input, text) => {
    expect(Text.duration(input)).toBe(text)
  })

  it.prop(
    "never more than two units",
    { seconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 })) },
    ({ seconds }) => {
      expect(Text.duration(Duration.seconds(seconds))).toMatch(/^\d+(\.\d)? (s|min|h|d)( \d+ (s|min|h))?$/)
    }
  )
})

it("Text.date is UTC to the second", () => {
  expect(Text.date(DateTime.makeUnsafe("2026-01-31T23:59:59.999+02:00"))).toBe("2026-01-31 21:59:59")
})

it("Text.count has thousands separators", () => {
  expect(Text.count(1_234_567)).toBe("1,234,567")
})

describe("Text.age", () => {
  it.each([
    ["-5 seconds", "0s"],
    ["59 seconds", "59s"],
    ["60 seconds", "1m"],
    ["119 minutes", "1h"],
    ["47 hours", "1d"],
    ["400 days", "400d"]
  ] as const)("%s is %s", (input, text) => {
    expect(Text.age(input)).toBe(text)
  })
})

describe("Text.latency", () => {
  it.each([
    [0.4, "<1 ms"],
    [1, "1 ms"],
    [12.9, "12 ms"],
    [999.9, "999 ms"],
    [1000, "1 s"]
  ])("%d ms are %s", (millis, text) => {
    expect(Text.latency(millis)).toBe(text)
  })
})
