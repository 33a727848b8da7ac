import * as DateTime from "effect/DateTime"
import * as Option from "effect/Option"

/**
 * The instant of a UTC date-time in the form of `DateTime.formatIso`; none where its day or time does not exist.
 * JavaScript reads 30 February as 2 March: the text that the instant formats to tells.
 */
export const instantOf = (iso: string): Option.Option<DateTime.Utc> =>
  Option.filter(DateTime.make(iso), (instant) => DateTime.formatIso(instant) === iso)
