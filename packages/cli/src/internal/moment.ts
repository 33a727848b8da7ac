import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Option from "effect/Option"
import * as FlagValue from "./flagValue.ts"

const units: Readonly<Record<string, (amount: number) => Duration.Duration>> = {
  s: Duration.seconds,
  m: Duration.minutes,
  h: Duration.hours,
  d: Duration.days,
  w: Duration.weeks
}

/** Parses an age such as `7d` or `24h`. */
const parseAgo = (text: string): Option.Option<Duration.Duration> => {
  const [, amount, unit = ""] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  return Option.map(Option.fromUndefinedOr(units[unit]), (make) => make(Number(amount)))
}

/** Whether the calendar has this day. The check is needed, because JavaScript reads 30 February as a day in March. */
const isDay = (day: string): boolean =>
  Option.exists(DateTime.make(`${day}T00:00:00Z`), (moment) => DateTime.formatIsoDateUtc(moment) === day)

/** Parses a date with an optional time and zone. The default zone is UTC. */
const parseDate = (text: string): Option.Option<DateTime.Utc> =>
  /^\d{4}-\d{2}-\d{2}([ T]|$)/.test(text) && isDay(text.slice(0, 10))
    ? Option.map(DateTime.make(text.length === 10 ? `${text}T00:00:00Z` : text.replace(" ", "T")), DateTime.toUtc)
    : Option.none()

/**
 * The direction in which a moment is rounded to a whole second. The start of a window is rounded down and the end is
 * rounded up, so that the window never gets smaller.
 */
type Rounding = "down" | "up"

const round: Readonly<Record<Rounding, (seconds: number) => number>> = { down: Math.floor, up: Math.ceil }

/** Parses a moment or an age into a moment in whole seconds. */
export const parse = (text: string, now: DateTime.Utc, rounding: Rounding = "down"): Option.Option<DateTime.Utc> =>
  Option.map(
    Option.orElse(
      Option.map(parseAgo(text), (ago) => DateTime.subtractDuration(now, ago)),
      () => parseDate(text)
    ),
    (moment) => DateTime.makeUnsafe(round[rounding](moment.epochMilliseconds / 1000) * 1000)
  )

const read = (option: string, value: string, rounding: Rounding) =>
  Effect.flatMap(DateTime.now, (now) =>
    FlagValue.orInvalid(parse(value, now, rounding), {
      option,
      value,
      expected: "a date such as 2026-01-31 or 2026-01-31T10:00:00Z, or an age such as 24h or 7d"
    })
  )

/** Formats a moment in the form that the flags accept. */
const format = (moment: DateTime.Utc): string => `${DateTime.formatIso(moment).slice(0, 19)}Z`

/**
 * How far a period without `until` may begin in the future, because the clock of the service may be ahead of this
 * clock. The client corrects a difference of up to an hour.
 */
const tolerance = Duration.hours(1)

/**
 * Refuses an empty period: one that does not begin before `until`. Without `until`, refuses a period that begins more
 * than `tolerance` in the future.
 */
export const checkPeriod = (
  since: DateTime.Utc,
  until?: DateTime.Utc | undefined
): Effect.Effect<void, CliError.ValidationError> =>
  Effect.flatMap(DateTime.now, (now) => {
    const begins = `--since is ${format(since)}`
    const isEmpty =
      until === undefined
        ? DateTime.isGreaterThan(since, DateTime.addDuration(now, tolerance))
        : DateTime.isGreaterThanOrEqualTo(since, until)
    if (!isEmpty) return Effect.void
    const message =
      until === undefined
        ? `${begins}, which is in the future`
        : `${begins} and --until is ${format(until)}: --since must be before --until`
    return Effect.fail(new CliError.ValidationError({ message }))
  })

/** A command-line flag for the end of a time range. */
export const endFlag = (name: string): Flag.Flag<DateTime.Utc> =>
  Flag.String(name).pipe(
    Flag.withMetavar("when"),
    Flag.mapEffect((value) => read(name, value, "up"))
  )

/** A flag for the start of a time range, with a default. */
export const startFlag = (name: string, otherwise: string): Flag.Flag<DateTime.Utc> =>
  Flag.String(name).pipe(
    Flag.withMetavar("when"),
    Flag.withDefault(otherwise),
    Flag.mapEffect((value) => read(name, value, "down"))
  )

/** A flag for a length of time, such as `10m`, with a default. */
export const durationFlag = (name: string, otherwise: string, description: string): Flag.Flag<Duration.Duration> =>
  Flag.String(name).pipe(
    Flag.withMetavar("duration"),
    Flag.withDescription(description),
    Flag.withDefault(otherwise),
    Flag.mapEffect((value) =>
      FlagValue.orInvalid(Option.filter(parseAgo(value), Duration.isPositive), {
        option: name,
        value,
        expected: "a length of time such as 30s, 10m or 2h"
      })
    )
  )
