/**
 * Generates invalid values. A generator makes a valid value, then changes the value so that it breaks one rule.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"

/**
 * An invalid value. `path` is the path of the invalid part, with the key names of `input`. An empty path means that the
 * whole value is invalid. `rule` describes the broken rule.
 *
 * @since 0.1.0
 * @category models
 */
export interface Invalid {
  readonly input: unknown
  readonly path: ReadonlyArray<PropertyKey>
  readonly rule: string
}

/**
 * Invalid values of a request, before and after their encoding. `decoded` generates values that a program passes to an
 * operation. `wire` generates encoded values that a server receives: params or form fields as an object (not as text),
 * headers as an object with lowercase names, or the text of one header or of one part of a path.
 *
 * @since 0.1.0
 * @category models
 */
export interface Invalids {
  readonly decoded: Arbitrary.Arbitrary<Invalid>
  readonly wire: Arbitrary.Arbitrary<Invalid>
}

/** One way to break a rule: `change` makes a valid value invalid, and `path` is the path of the invalid part. */
interface Breakage<in A> {
  readonly path: ReadonlyArray<PropertyKey>
  readonly change: (valid: A) => unknown
}

/**
 * A rule, with the ways to break it. `decoded` changes a decoded value, and `wire` changes an encoded value. If
 * `decoded` or `wire` is undefined, no invalid value of that kind is generated for the rule.
 */
export interface Rule<in Type, in Encoded> {
  readonly rule: string
  readonly decoded?: Arbitrary.Arbitrary<Breakage<Type>> | undefined
  readonly wire?: Arbitrary.Arbitrary<Breakage<Encoded>> | undefined
}

/** Chooses one of several arbitraries with equal probability. */
export const oneOf = <A>(...all: ReadonlyArray<Arbitrary.Arbitrary<A>>): Arbitrary.Arbitrary<A> =>
  Arbitrary.flatMap(
    Arbitrary.schema(Schema.Literals(all.map((_, index) => index))),
    // The index is always in range.
    (index) => all[index] as Arbitrary.Arbitrary<A>
  )

export const values = (...all: ReadonlyArray<unknown>): Arbitrary.Arbitrary<unknown> =>
  oneOf(...all.map((value) => Arbitrary.Constant(value)))

/** Strings that match a pattern. */
export const text = (source: string, flags = ""): Arbitrary.Arbitrary<string> =>
  Arbitrary.schema(Schema.String.check(Schema.isPattern(new RegExp(source, flags))))

export const integers = (minimum: number, maximum: number): Arbitrary.Arbitrary<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

/** Numbers with a fraction. */
export const fractions: Arbitrary.Arbitrary<number> = Arbitrary.map(integers(-1000, 1000), (n) => n + 0.5)

/** JSON values that are not strings. */
export const notText = values(null, true, 5, [], {})

/** Values that are not a date-time of a list request, for decoded and for encoded params. */
export const listDates = {
  decoded: oneOf(
    notText,
    text("^\\d{4}-0[1-9]-0[1-9] 10:00:00$"),
    Arbitrary.map(integers(253_402_300_800, 8_640_000_000_000), (second) => DateTime.makeUnsafe(second * 1000))
  ),
  wire: oneOf(
    notText,
    text("^\\d{4}-0[1-9]-0[1-9]T10:00:00Z$"),
    text("^\\d{4}-(?:02-3[01]|04-31|06-31|13-01|00-10|01-32) 10:00:00$"),
    text("^\\d{4}-0[1-9]-0[1-9] (?:2[4-9]:00:00|10:[6-9]\\d:00|10:00:[6-9]\\d)$")
  )
}

/** The name of a key, or its two names in the decoded and in the encoded value. */
type Key = string | readonly [decoded: string, wire: string]

const decodedName = (key: Key): string => (typeof key === "string" ? key : key[0])
const wireName = (key: Key): string => (typeof key === "string" ? key : key[1])

/** Sets a property of a valid object to generated values. */
const put = (name: string, bad: Arbitrary.Arbitrary<unknown>, below: ReadonlyArray<PropertyKey> = []) =>
  Arbitrary.map(bad, (value): Breakage<object> => ({
    path: [name, ...below],
    change: (valid) => ({ ...valid, [name]: value })
  }))

/** Omits a required key. */
export const missing = (key: Key): Rule<object, object> => {
  const without = (name: string) =>
    Arbitrary.Constant<Breakage<object>>({ path: [name], change: (valid) => Struct.omit(valid, [name as never]) })
  return { rule: "is required", decoded: without(decodedName(key)), wire: without(wireName(key)) }
}

/**
 * Gives a key an invalid value. `bad` is one generator for both the decoded and the encoded object, or an object with a
 * generator for each of them, or for only one of them. `below` is the path of the invalid part inside the value.
 */
export const field = (
  key: Key,
  rule: string,
  bad:
    | Arbitrary.Arbitrary<unknown>
    | { readonly decoded?: Arbitrary.Arbitrary<unknown>; readonly wire?: Arbitrary.Arbitrary<unknown> },
  below: ReadonlyArray<PropertyKey> = []
): Rule<object, object> => {
  const { decoded, wire } = Arbitrary.isArbitrary(bad) ? { decoded: bad, wire: bad } : bad
  return {
    rule,
    decoded: decoded === undefined ? undefined : put(decodedName(key), decoded, below),
    wire: wire === undefined ? undefined : put(wireName(key), wire, below)
  }
}

/** Adds an unknown key to an object whose schema refuses unknown keys. */
export const unknownKey: Rule<object, object> = (() => {
  const unknown = Arbitrary.map(text("^x_[a-z]{1,8}$"), (name): Breakage<object> => ({
    path: [name],
    change: (valid) => ({ ...valid, [name]: 1 })
  }))
  return { rule: "is not a key of this request", decoded: unknown, wire: unknown }
})()

/** Replaces the whole value. */
export const whole = (
  rule: string,
  bad: { readonly decoded?: Arbitrary.Arbitrary<unknown>; readonly wire?: Arbitrary.Arbitrary<unknown> },
  path: ReadonlyArray<PropertyKey> = []
): Rule<unknown, unknown> => {
  const replace = (arbitrary: Arbitrary.Arbitrary<unknown> | undefined) =>
    arbitrary && Arbitrary.map(arbitrary, (value): Breakage<unknown> => ({ path, change: () => value }))
  return { rule, decoded: replace(bad.decoded), wire: replace(bad.wire) }
}

const breaking = <A>(
  valid: Arbitrary.Arbitrary<A>,
  rules: ReadonlyArray<readonly [rule: string, breakage: Rule<A, A>["decoded"]]>
): Arbitrary.Arbitrary<Invalid> =>
  oneOf(
    ...rules.flatMap(([rule, breakage]) =>
      breakage === undefined
        ? []
        : [
            Arbitrary.map(Arbitrary.all([valid, breakage]), ([value, { change, path }]): Invalid => ({
              input: change(value),
              path,
              rule
            }))
          ]
    )
  )

export const invalidDecoded = <A>(valid: Arbitrary.Arbitrary<A>, rules: ReadonlyArray<Rule<A, never>>) =>
  breaking(
    valid,
    rules.map(({ decoded, rule }) => [rule, decoded] as const)
  )

export const invalidWire = <A>(valid: Arbitrary.Arbitrary<A>, rules: ReadonlyArray<Rule<never, A>>) =>
  breaking(
    valid,
    rules.map(({ rule, wire }) => [rule, wire] as const)
  )

export const encoded = <T, E>(schema: Schema.ConstraintCodec<T, E>): Arbitrary.Arbitrary<E> =>
  Arbitrary.map(Arbitrary.schema(schema), Schema.encodeSync(schema))

export const invalids = <T, E>(schema: Schema.ConstraintCodec<T, E>, rules: ReadonlyArray<Rule<T, E>>): Invalids => ({
  decoded: invalidDecoded(Arbitrary.schema(schema), rules),
  wire: invalidWire(encoded(schema), rules)
})

export const either = (...all: ReadonlyArray<Invalids>): Invalids => ({
  decoded: oneOf(...all.map(({ decoded }) => decoded)),
  wire: oneOf(...all.map(({ wire }) => wire))
})
