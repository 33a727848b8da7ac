/**
 * The rules of options: what is no limit is refused before anything is done with it.
 *
 * Each rule answers what is wrong, or undefined; an option that is left out breaks none.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const shown = (value: unknown): string => (Duration.isDuration(value) ? Duration.format(value) : String(value))

/** A duration that is positive and finite: nothing is repeated without a pause, and nothing waits for ever. */
export const duration = (value: Duration.Input | undefined): string | undefined => {
  if (value === undefined) return undefined
  // `Duration` takes NaN for zero.
  const isLimit = Option.exists(
    Duration.fromInput(value),
    (time) => Duration.isFinite(time) && Duration.isPositive(time)
  )
  return isLimit ? undefined : `Expected a positive, finite duration, got ${shown(value)}`
}

/** A whole number of at least `least`. */
export const whole = (value: number | undefined, least: number): string | undefined =>
  value === undefined || (Number.isSafeInteger(value) && value >= least)
    ? undefined
    : `Expected a whole number of at least ${least}, got ${value}`

/** One option that breaks a rule. */
export interface Issue {
  readonly path: ReadonlyArray<string>
  readonly message: string
}

/**
 * The options that break a rule, each by its name.
 *
 * @example Settings.issues({ requestTimeout: Settings.duration(options.requestTimeout) })
 */
export const issues = (results: Readonly<Record<string, string | undefined>>): ReadonlyArray<Issue> =>
  Object.entries(results).flatMap(([name, message]) => (message === undefined ? [] : [{ path: [name], message }]))

/**
 * The defect of a Layer that cannot fail: an option is the program's own, and no run of it can heal one.
 */
export const defect = (layer: string, broken: ReadonlyArray<Issue>): TypeError =>
  new TypeError(`${layer}: ${broken.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; ")}`)
