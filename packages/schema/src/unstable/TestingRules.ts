/**
 * The types of rules of requests, for `testing`.
 */
import type * as Arbitrary from "effect/Arbitrary"
import type * as Option from "effect/Option"

/**
 * The path of a part of a value.
 *
 * @since 0.1.0
 * @category models
 */
export type Path = ReadonlyArray<PropertyKey>

/**
 * A key, or its two names in the decoded value and on the wire.
 *
 * @since 0.1.0
 * @category models
 */
export type Key = string | number | readonly [decoded: string, wire: string]

/**
 * Values that a part of a request may have: the same in both forms, or different ones in the decoded form and on the
 * wire.
 *
 * @since 0.1.0
 * @category models
 */
export type Values =
  | Arbitrary.Arbitrary<unknown>
  | { readonly decoded: Arbitrary.Arbitrary<unknown>; readonly wire?: Arbitrary.Arbitrary<unknown> }
  | { readonly decoded?: Arbitrary.Arbitrary<unknown>; readonly wire: Arbitrary.Arbitrary<unknown> }

/**
 * Changes a valid value, or returns none if the value has no place for this change. `path` is the path of the part that
 * is then invalid.
 *
 * @since 0.1.0
 * @category models
 */
export interface Change {
  readonly path: Path
  readonly apply: (valid: unknown) => Option.Option<unknown>
}

/**
 * One rule in one form. `at` is the path of the part that is changed. `bad` breaks the rule, and `edge` makes a valid
 * value at the limit of the rule.
 *
 * @since 0.1.0
 * @category models
 */
export interface Break {
  readonly name: string
  readonly at: Path
  readonly path: Path
  readonly code: string | undefined
  readonly bad: Arbitrary.Arbitrary<Change>
  readonly edge: Arbitrary.Arbitrary<Change> | undefined
}

/**
 * Rules that belong to no schema yet, in both forms: see `rule`, `at` and `make`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rules {
  readonly decoded: ReadonlyArray<Break>
  readonly wire: ReadonlyArray<Break>
}

/**
 * A rule of one part of a request.
 *
 * - `at`: the keys on the way to the part; a key with two names is a pair of its decoded name and its name on the wire.
 * - `name`: what the rule says, such as "is at most 100 characters".
 * - `bad`: values that break the rule. They may differ in the two forms, or be absent in one of them.
 * - `edge`: valid values at the limit of the rule.
 * - `below`: the path of the invalid part inside a bad value.
 * - `code`: the error code with which the service refuses the request.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly at: ReadonlyArray<Key>
  readonly name: string
  readonly bad: Values
  readonly edge?: Values | undefined
  readonly below?: Path | undefined
  readonly code?: string | undefined
}
