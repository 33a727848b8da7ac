import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

/**
 * The instant of a UTC date-time in the format of `DateTime.formatIso`, or `None` if its day or time does not exist.
 * JavaScript reads 30 February as a day in March, so the instant is formatted and compared with the text.
 */
export const instantOf = (iso: string): Option.Option<DateTime.Utc> =>
  Option.filter(DateTime.make(iso), (instant) => DateTime.formatIso(instant) === iso)
