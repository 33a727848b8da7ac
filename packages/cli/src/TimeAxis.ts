/**
 * The time axis of a report, divided into bars that last an hour, a day or another step. All functions are pure, and
 * use UTC.
 */
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Format from "./Format.ts"

/**
 * The bars of an axis. The first bar starts at `start`, and each bar lasts `step`. The axis ends at `end`, so the last
 * bar may be shorter than its step. `start` and `end` are in milliseconds since 1970, `step` is in milliseconds.
 *
 * - `name`: the step in words, such as `6 hours`.
 *
 * @since 0.1.0
 * @category models
 */
export interface TimeAxis {
  readonly start: number
  readonly step: number
  readonly bars: number
  readonly end: number
  readonly name: string
}

/**
 * - `from`, `to`: the window to show, in milliseconds since 1970.
 * - `granularity`: the length of a bucket of the data. A step is always a whole number of buckets.
 * - `maxBars`: the maximum number of bars.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly from: number
  readonly to: number
  readonly granularity: Duration.Input
  readonly maxBars: number
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
const week = 7 * day

/**
 * The calendar steps. With a step of another length, such as 10 hours, the bars of data with a daily rhythm would show
 * a pattern that the data does not have.
 */
const steps: ReadonlyArray<readonly [millis: number, name: string]> = [
  [minute, "minute"],
  [5 * minute, "5 minutes"],
  [15 * minute, "15 minutes"],
  [hour, "hour"],
  [6 * hour, "6 hours"],
  [day, "day"],
  [week, "week"]
]

/** Monday, 5 January 1970. Weeks start on Mondays; the other steps start at multiples of their length since 1970. */
const monday = 4 * day

/** The start of the calendar step that contains a time. */
const floor = (time: number, step: number): number => {
  const offset = step % week === 0 ? monday : 0
  return Math.floor((time - offset) / step) * step + offset
}

const barsOf = (start: number, end: number, step: number): number => Math.floor((end - start) / step) + 1

/**
 * Chooses the smallest calendar step whose bars fit. If no calendar step fits, a bar lasts several weeks. If no
 * calendar step is a whole number of buckets, a bar lasts one bucket or several buckets.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = ({ from, granularity, maxBars, to }: Options): TimeAxis => {
  const bucket = Math.max(1, Duration.toMillis(granularity))
  const end = Math.max(from, to)
  const usable = steps.filter(([millis]) => millis % bucket === 0)
  for (const [step, name] of usable) {
    const start = floor(from, step)
    const bars = barsOf(start, end, step)
    if (bars <= maxBars) return { start, step, bars, end, name }
  }
  const [base] = usable.at(-1) ?? [bucket]
  const start = floor(from, base)
  const count = Math.ceil(barsOf(start, end, base) / Math.max(1, maxBars))
  const step = base * count
  const name = base === week ? `${count} weeks` : Format.duration(step)
  return { start, step, bars: barsOf(start, end, step), end, name }
}

/**
 * The sum of the values in each bar. Values outside of the axis are left out.
 *
 * @since 0.1.0
 * @category getters
 */
export const sums = (
  axis: TimeAxis,
  points: ReadonlyArray<{ readonly at: DateTime.DateTime; readonly value: number }>
): ReadonlyArray<number> => {
  const values = Array.from({ length: axis.bars }, () => 0)
  for (const { at, value } of points) {
    const index = Math.floor((at.epochMilliseconds - axis.start) / axis.step)
    const sum = values[index]
    if (sum !== undefined) values[index] = sum + value
  }
  return values
}

/** The possible distances between two ticks. */
const tickSteps = [
  minute,
  5 * minute,
  15 * minute,
  hour,
  3 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  week,
  2 * week,
  4 * week,
  12 * week
]

/**
 * A tick of the axis, at the start of the bar `index`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tick {
  readonly index: number
  readonly label: string
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

/** A time as `14:00`, or as `Nov 16` at midnight. The label is empty if the time is not a valid `DateTime`. */
const labelOf = (time: number): string =>
  Option.match(DateTime.make(time), {
    onNone: () => "",
    onSome: (moment) => (floor(time, day) === time ? dateOf(moment) : clockOf(moment))
  })

const dateOf = (moment: DateTime.DateTime): string => {
  const { day: date, month } = DateTime.toPartsUtc(moment)
  return `${months[month - 1] ?? ""} ${date}`
}

const clockOf = (moment: DateTime.DateTime): string => Format.date(moment).slice(11, 16)

/**
 * The label for the end of the axis in an SVG chart. The label names the end and is never "now", because the chart may
 * be read later. The label is the date of the end, or the time of day if the axis is shorter than two days. The label
 * is empty if the end is not a valid `DateTime`.
 *
 * @since 0.1.0
 * @category getters
 */
export const endLabel = ({ end, start }: TimeAxis): string =>
  Option.match(DateTime.make(end), {
    onNone: () => "",
    onSome: end - start < 2 * day ? clockOf : dateOf
  })

/**
 * Ticks at calendar times, at least `minBars` bars apart. If the axis has no such tick, it has one tick at its start.
 *
 * @since 0.1.0
 * @category getters
 */
export const ticks = (axis: TimeAxis, minBars: number): ReadonlyArray<Tick> => {
  const distance = tickSteps.find((tick) => tick % axis.step === 0 && tick / axis.step >= minBars)
  const indexes = Array.from({ length: axis.bars }, (_, index) => index)
  const found =
    distance === undefined
      ? []
      : indexes.filter((index) => {
          const time = axis.start + index * axis.step
          return floor(time, distance) === time
        })
  return (found.length === 0 ? [0] : found).map((index) => ({ index, label: labelOf(axis.start + index * axis.step) }))
}
