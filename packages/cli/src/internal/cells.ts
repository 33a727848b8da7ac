/**
 * Texts for the cells of tables and for the values of `Facts`.
 */
import * as DateTime from "effect/DateTime"
import * as Predicate from "effect/Predicate"
import * as Format from "../Format.ts"
import type * as Table from "../Table.ts"

/** Stands for a value that the service does not report. */
export const unknown = "–"

/** A time to the minute, in UTC. */
export const minute = (moment: DateTime.DateTime | null | undefined): string =>
  moment === null || moment === undefined ? unknown : Format.date(moment).slice(0, 16)

/** How long ago a moment was. */
export const age = (moment: DateTime.DateTime | null | undefined, now: DateTime.DateTime): string =>
  moment === null || moment === undefined ? unknown : Format.age(DateTime.distance(moment, now))

/** A column of times: dates, or ages in a narrow terminal. `rank` is the importance of the column. */
export const timeColumn = <Row>(
  title: string,
  value: (row: Row) => DateTime.DateTime | null | undefined,
  options: { readonly now: DateTime.DateTime; readonly rank: number }
): Table.Column<Row> => ({
  title: `${title} (UTC)`,
  rank: options.rank,
  value: (row) => minute(value(row)),
  short: { title, value: (row) => age(value(row), options.now) },
  keep: true
})

/** A boolean as `yes` or `no`. */
export const flag = (value: boolean | undefined): string => {
  if (value === undefined) return unknown
  return value ? "yes" : "no"
}

/** A text, or the mark of an unknown value if the text is absent or empty. */
export const text = (value: string | null | undefined): string => value || unknown

/** A value of a record whose form the service does not document, as one line. */
export const json = (value: unknown): string => (Predicate.isString(value) ? value : (JSON.stringify(value) ?? unknown))
