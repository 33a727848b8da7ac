import { expect, it } from "@effect/vitest"
import { DateTime, Duration, Schema } from "effect"
import * as Help from "../src/internal/help.ts"
import * as Text from "../src/internal/text.ts"

it("Text.wrap breaks lines between words, but not inside of a command", () => {
  const text = "Run npx --no-install assembly keys update --scope … to see, or assembly doctor. Set it."
  const whole = Help.commandsOf("npx --no-install assembly")
  expect(Text.wrap(text, 24, { whole })).toEqual([
    "Run",
    "npx --no-install assembly keys update --scope …",
    "to see, or assembly",
    "doctor. Set it."
  ])
  const own = Text.wrap("see assembly wait abc", 14, { whole: Help.commandsOf("assembly") })
  expect(own).toEqual(["see", "assembly wait", "abc"])
})

/** What a function makes of each input: `input: text`. */
const texts: ReadonlyArray<readonly [name: string, (input: never) => string, ...ReadonlyArray<[unknown, string]>]> = [
  ["bytes", Text.bytes, [0, "0 B"], [1023, "1023 B"], [1024, "1.0 KiB"], [1536n, "1.5 KiB"], [1024 ** 2, "1.0 MiB"]],
  ["bytes", Text.bytes, [123_456_789n, "117.7 MiB"], [2n ** 63n - 1n, "8.0 EiB"], [1.4, "1 B"], [Infinity, "∞"]],
  ["shortBytes", Text.shortBytes, [1023, "1023 B"], [1536n, "1.5 KiB"], [300_000, "293 KiB"], [1000 << 20, "1000 MiB"]],
  ["rate", Text.rate, [0, "0 B/s"], [12_300, "12.0 KiB/s"], [1_200_000_000, "1.1 GiB/s"]],
  ["duration", Text.duration, ["0 seconds", "0 s"], ["40 millis", "0 s"], ["1234 millis", "1.2 s"]],
  ["duration", Text.duration, ["9960 millis", "10 s"], ["59600 millis", "1 min"], ["65 seconds", "1 min 5 s"]],
  ["duration", Text.duration, ["1 hour", "1 h"], ["3605 seconds", "1 h"], ["49 hours", "2 d 1 h"], ["Infinity", "∞"]],
  ["shortDuration", Text.shortDuration, [100, "0.1s"], ["65 seconds", "1m 5s"], ["3599 seconds", "59m 59s"]],
  ["shortDuration", Text.shortDuration, ["3600 seconds", "1h"], ["90000 seconds", "1d 1h"]],
  ["count", Text.count, [1_234_567, "1,234,567"]],
  ["age", Text.age, ["-5 seconds", "0s"], ["59 seconds", "59s"], ["60 seconds", "1m"], ["119 minutes", "1h"]],
  ["age", Text.age, ["47 hours", "1d"], ["400 days", "400d"]],
  ["latency", Text.latency, [0.4, "<1 ms"], [1, "1 ms"], [12.9, "12 ms"], [999.9, "999 ms"], [1000, "1 s"]],
  ["date", Text.date, [DateTime.makeUnsafe("2026-01-31T23:59:59.999+02:00"), "2026-01-31 21:59:59"]],
  ["minute", Text.minute, [DateTime.makeUnsafe("2026-01-31T23:59:59Z"), "2026-01-31 23:59"]]
]

for (const [name, format, ...rows] of texts) {
  it.each(rows)(`Text.${name} of %s is %s`, (input, text) => {
    expect(format(input as never)).toBe(text)
  })
}

it.prop("any size has a unit and at most ten characters below a YiB", { size: Schema.BigInt }, ({ size }) => {
  const value = size < 0n ? -size : size
  const text = Text.bytes(value)
  expect(text).toMatch(/^\d+(\.\d)? ([KMGTPEZY]i)?B$/)
  if (value < 2n ** 80n) expect(text.length).toBeLessThanOrEqual(10)
})

const seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000_000 }))

it.prop("a duration has never more than two units", { seconds }, ({ seconds: length }) => {
  expect(Text.duration(Duration.seconds(length))).toMatch(/^\d+(\.\d)? (s|min|h|d)( \d+ (s|min|h))?$/)
})
