/**
 * Validates options of this library before they are used.
 *
 * Each rule returns the problem, or undefined. An option that is left out breaks no rule.
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

const shown = (value: unknown): string => {
  if (Duration.isDuration(value)) {
    const seconds = Duration.toSeconds(value)
    return Number.isFinite(seconds) && seconds !== 0 ? `${seconds}s` : String(seconds)
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? "an object" : String(value)
}

/** Whether a duration contains no NaN, which `Duration` would read as zero. */
const isNumeric = (value: Duration.Input): boolean => {
  if (typeof value === "number") return !Number.isNaN(value)
  if (typeof value !== "object" || value === null || Duration.isDuration(value)) return true
  return Object.values(value).every((part) => !Number.isNaN(part))
}

/** A date that is further away cannot be represented. */
const longest = Duration.days(36_500)

/**
 * Requires a positive duration of at most 100 years: a pause of zero would repeat a request at once, and an infinite
 * limit would never end a wait. `mayBeZero` permits zero as well, and `mayBeInfinite` infinity.
 *
 * @since 0.1.0
 * @category utilities
 */
export const duration = (
  value: Duration.Input | undefined,
  { mayBeInfinite = false, mayBeZero = false }: { readonly mayBeInfinite?: boolean; readonly mayBeZero?: boolean } = {}
): string | undefined => {
  if (value === undefined) return undefined
  const time = Option.getOrUndefined(isNumeric(value) ? Duration.fromInput(value) : Option.none())
  const isLimit =
    time !== undefined &&
    (Duration.isPositive(time) || (mayBeZero && Duration.isZero(time))) &&
    (Duration.isFinite(time) || mayBeInfinite)
  if (!isLimit) return `Expected a finite duration ${mayBeZero ? "of at least" : "above"} zero, got ${shown(value)}`
  return Duration.isFinite(time) && Duration.isGreaterThan(time, longest)
    ? `Expected at most 100 years, got ${shown(value)}`
    : undefined
}

/**
 * Requires an integer of at least `least`.
 *
 * @since 0.1.0
 * @category utilities
 */
export const whole = (value: number | undefined, least: number): string | undefined =>
  value === undefined || (Number.isSafeInteger(value) && value >= least)
    ? undefined
    : `Expected a whole number of at least ${least}, got ${shown(value)}`

/**
 * Requires a text that is not blank. The message does not repeat the text, because it may be a secret.
 *
 * @since 0.1.0
 * @category utilities
 */
export const notBlank = (value: string | undefined): string | undefined =>
  value === undefined || value.trim() !== "" ? undefined : "Expected a non-blank string"

/**
 * An option that breaks a rule.
 *
 * @since 0.1.0
 * @category models
 */
export interface Issue {
  readonly path: ReadonlyArray<string>
  readonly message: string
}

/**
 * Collects the options that break a rule, each with its name.
 *
 * @example Settings.issues({ requestTimeout: Settings.duration("10 seconds") })
 *
 * @since 0.1.0
 * @category utilities
 */
export const issues = (results: Readonly<Record<string, string | undefined>>): ReadonlyArray<Issue> =>
  Object.entries(results).flatMap(([name, message]) => (message === undefined ? [] : [{ path: [name], message }]))

/**
 * The defect for invalid options of a Layer that has no error channel. An invalid option is a bug in the program, so a
 * retry cannot help.
 *
 * @since 0.1.0
 * @category utilities
 */
export const defect = (layer: string, broken: ReadonlyArray<Issue>): TypeError =>
  new TypeError(`${layer}: ${broken.map(({ message, path }) => `${path.join(".")}: ${message}`).join("; ")}`)
