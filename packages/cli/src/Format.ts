/**
 * Formats numbers, sizes and moments for people. All functions are pure, and use English and UTC.
 */
import * as ByteSize from "effect/ByteSize"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"

/** A `ByteSize` must be a whole number and not negative. An average of sizes may be a fraction. */
const toByteSize = (value: number | bigint): ByteSize.ByteSize =>
  ByteSize.bytes(typeof value === "bigint" ? value : BigInt(Math.max(0, Math.round(value))))

/**
 * A number of bytes in binary units, with one decimal from KiB on.
 *
 * @example bytes(123) // "123 B", bytes(1536n) // "1.5 KiB"
 *
 * @since 0.1.0
 * @category formatting
 */
export const bytes = (value: number | bigint): string => {
  if (typeof value === "number" && !Number.isFinite(value)) return "∞"
  const size = toByteSize(value)
  return ByteSize.format(size, { precision: 1, trailingZeros: size >= 1024n })
}

/**
 * As {@link bytes}, but a number from 100 on has no decimal, so that the text has at most 8 cells.
 *
 * @example shortBytes(1536n) // "1.5 KiB", shortBytes(300_000) // "293 KiB"
 *
 * @since 0.1.0
 * @category formatting
 */
export const shortBytes = (value: number | bigint): string => {
  const text = bytes(value)
  return text.length <= 8 ? text : ByteSize.format(toByteSize(value), { precision: 0 })
}

/**
 * A speed, in the same units as a size, so that a user can compare a speed with a size on the same line.
 *
 * @example rate(12_300_000) // "11.7 MiB/s"
 *
 * @since 0.1.0
 * @category formatting
 */
export const rate = (bytesPerSecond: number): string => `${bytes(bytesPerSecond)}/s`

/**
 * A count with thousands separators.
 *
 * @example count(1234567) // "1,234,567"
 *
 * @since 0.1.0
 * @category formatting
 */
export const count = (value: number): string => value.toLocaleString("en-US")

/**
 * A duration in its two largest units, with tenths of a second below ten seconds.
 *
 * @example duration("1234 millis") // "1.2 s", duration("65 seconds") // "1 min 5 s", duration("1 hour") // "1 h"
 *
 * @since 0.1.0
 * @category formatting
 */
export const duration = (input: Duration.Input): string => {
  const length = Duration.max(Duration.fromInputUnsafe(input), Duration.zero)
  if (!Duration.isFinite(length)) return "∞"
  const seconds = Duration.toSeconds(length)
  if (seconds < 9.95) return `${Number(seconds.toFixed(1))} s`

  const { days, hours, minutes, ...rest } = Duration.parts(Duration.seconds(Math.round(seconds)))
  const units = [`${days} d`, `${hours} h`, `${minutes} min`, `${rest.seconds} s`]
  const first = units.findIndex((unit) => !unit.startsWith("0 "))
  return units
    .slice(first, first + 2)
    .filter((unit) => !unit.startsWith("0 "))
    .join(" ")
}

/**
 * As {@link duration}, without the spaces before the units, and with `m` for minutes. The text of a duration below 100
 * days has at most 7 cells.
 *
 * @example shortDuration("1234 millis") // "1.2s", shortDuration("65 seconds") // "1m 5s"
 *
 * @since 0.1.0
 * @category formatting
 */
export const shortDuration = (input: Duration.Input): string => duration(input).replaceAll(/ (d|h|m|s)(?:in)?\b/g, "$1")

/**
 * The time until a response. Times between a millisecond and a second are shown in whole milliseconds.
 *
 * @example latency(12) // "12 ms", latency(1234) // "1.2 s"
 *
 * @since 0.1.0
 * @category formatting
 */
export const latency = (millis: number): string => {
  if (millis >= 1000) return duration(millis)
  return millis < 1 ? "<1 ms" : `${Math.floor(millis)} ms`
}

/**
 * A time in UTC, to the second. The text does not name the zone; the caller names it, for example in the heading of a
 * table.
 *
 * @example date(DateTime.makeUnsafe("2026-01-01T10:00:00Z")) // "2026-01-01 10:00:00"
 *
 * @since 0.1.0
 * @category formatting
 */
export const date = (moment: DateTime.DateTime): string => DateTime.formatIso(moment).slice(0, 19).replace("T", " ")

const ages: ReadonlyArray<readonly [unit: string, seconds: number]> = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60]
]

/**
 * How long ago a moment was, as a whole number of the largest unit that fits: days, hours, minutes or seconds. A moment
 * in the future is `0s`, because the clock of the service may be ahead of this clock.
 *
 * @example age("90 minutes") // "1h", age("45 seconds") // "45s"
 *
 * @since 0.1.0
 * @category formatting
 */
export const age = (input: Duration.Input): string => {
  const seconds = Math.floor(Duration.toSeconds(Duration.max(Duration.fromInputUnsafe(input), Duration.zero)))
  const [unit, length] = ages.find((one) => seconds >= one[1]) ?? ["s", 1]
  return `${Math.floor(seconds / length)}${unit}`
}
