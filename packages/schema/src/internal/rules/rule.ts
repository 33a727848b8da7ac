/**
 * The rules of a request, each with generators of values that break it and of values at its limit.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

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
  | { readonly decoded?: Arbitrary.Arbitrary<unknown>; readonly wire?: Arbitrary.Arbitrary<unknown> }

/**
 * Changes a valid value. `path` is the path of the part that is then invalid.
 *
 * @since 0.1.0
 * @category models
 */
export interface Change {
  readonly path: Path
  readonly apply: (valid: unknown) => unknown
}

/**
 * One rule in one form. `bad` breaks the rule, and `edge` makes a valid value at the limit of the rule.
 *
 * @since 0.1.0
 * @category models
 */
export interface Break {
  readonly name: string
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

/** Chooses one of several arbitraries with equal probability. */
export const oneOf = <A>(...all: ReadonlyArray<Arbitrary.Arbitrary<A>>): Arbitrary.Arbitrary<A> => {
  const [first] = all
  if (first !== undefined && all.length === 1) return first
  return Arbitrary.flatMap(
    Arbitrary.schema(Schema.Literals(all.map((_, index) => index))),
    // The index is always in range.
    (index) => all[index] as Arbitrary.Arbitrary<A>
  )
}

export const values = (...all: ReadonlyArray<unknown>): Arbitrary.Arbitrary<unknown> =>
  oneOf(...all.map((value) => Arbitrary.Constant(value)))

/** Strings that match a pattern. */
export const text = (source: string): Arbitrary.Arbitrary<string> =>
  Arbitrary.schema(Schema.String.check(Schema.isPattern(new RegExp(source))))

export const integers = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

/** Changes the part of a value at a path. A part that is absent is added. */
const change = (target: unknown, [key, ...rest]: Path, to: (part: unknown) => unknown): unknown => {
  if (key === undefined) return to(target)
  if (typeof key === "number") {
    const list: Array<unknown> = Array.isArray(target) ? [...target] : []
    list[key] = change(list[key], rest, to)
    return list
  }
  const object = Predicate.isObject(target) ? target : {}
  return { ...object, [key]: change(object[key], rest, to) }
}

/** Sets the part at a path to a value. */
export const setter =
  (path: Path, value: unknown) =>
  (valid: unknown): unknown =>
    change(valid, path, () => value)

export const pathIn = (form: "decoded" | "wire", keys: ReadonlyArray<Key>): Path =>
  keys.map((key) => (typeof key === "object" ? key[form === "decoded" ? 0 : 1] : key))

const nameOf = (path: Path, rule: string): string =>
  path.length === 0 ? rule : `${path.map(String).join(".")} ${rule}`

const valuesIn = (form: "decoded" | "wire", all: Values): Arbitrary.Arbitrary<unknown> | undefined =>
  Arbitrary.isArbitrary(all) ? all : all[form]

/** Sets the part at a path to the generated values. `below` is the path of the invalid part inside these values. */
export const set = (path: Path, to: Arbitrary.Arbitrary<unknown>, below: Path = []): Arbitrary.Arbitrary<Change> =>
  Arbitrary.map(to, (value) => ({ path: [...path, ...below], apply: setter(path, value) }))

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

export const rule = ({ at, bad, below = [], code, edge = {}, name }: Options): Rules => {
  const one = (form: "decoded" | "wire"): ReadonlyArray<Break> => {
    const path = pathIn(form, at)
    const broken = valuesIn(form, bad)
    const valid = valuesIn(form, edge)
    return broken === undefined
      ? []
      : [
          {
            name: nameOf(path, name),
            path,
            code,
            bad: set(path, broken, below),
            edge: valid && set(path, valid)
          }
        ]
  }
  return { decoded: one("decoded"), wire: one("wire") }
}

/** A rule whose breakage is another change than a new value of the part. */
export const changed = (
  at: ReadonlyArray<Key>,
  name: string,
  bad: (path: Path) => Arbitrary.Arbitrary<Change>,
  code?: string
): Rules => {
  const one = (form: "decoded" | "wire"): ReadonlyArray<Break> => {
    const path = pathIn(form, at)
    return [{ name: nameOf(path, name), path, code, bad: bad(path), edge: undefined }]
  }
  return { decoded: one("decoded"), wire: one("wire") }
}

const without = (target: unknown, key: PropertyKey): unknown => {
  const { [key]: _removed, ...rest } = Object(target)
  return rest
}

export const missing = (at: ReadonlyArray<Key>, code?: string): Rules =>
  changed(
    at,
    "is required",
    (path) =>
      Arbitrary.Constant({
        path,
        apply: (valid) => change(valid, path.slice(0, -1), (parent) => without(parent, path[path.length - 1] ?? ""))
      }),
    code
  )

export const unknownKey = (at: ReadonlyArray<Key> = [], code?: string): Rules =>
  changed(
    at,
    "has no unknown key",
    (path) =>
      Arbitrary.map(text("^x_[a-z]{1,8}$"), (key) => ({
        path: [...path, key],
        apply: (valid) => change(valid, [...path, key], () => "surplus")
      })),
    code
  )

export const join = (all: ReadonlyArray<Rules>): Rules => ({
  decoded: all.flatMap(({ decoded }) => decoded),
  wire: all.flatMap(({ wire }) => wire)
})

const mapBreaks = (all: ReadonlyArray<Rules>, f: (one: Break) => Break): ReadonlyArray<Rules> =>
  all.map(({ decoded, wire }) => ({ decoded: decoded.map(f), wire: wire.map(f) }))

/** Rules whose error code is the same. */
export const coded = (code: string, all: ReadonlyArray<Rules>): ReadonlyArray<Rules> =>
  mapBreaks(all, (one) => ({ ...one, code }))

/** Rules of one kind of the values of a schema. */
export const kind = (name: string, all: ReadonlyArray<Rules>): ReadonlyArray<Rules> =>
  mapBreaks(all, (one) => ({ ...one, name: `${name}: ${one.name}` }))
