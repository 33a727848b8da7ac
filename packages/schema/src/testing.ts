/**
 * Generators of requests for property tests: valid ones, and ones that break exactly one rule. Each rule has a name, its
 * path, and the error code of the service where one is known. This module needs no test framework.
 *
 * @example
 * Arbitrary.checkEffect(
 *   Testing.of(AssemblyList.Query).invalid.wire,
 *   ({ input }) => Schema.decodeUnknownExit(AssemblyList.Query)(input)._tag === "Failure"
 * )
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Exit from "effect/Exit"
import * as Formatter from "effect/Formatter"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Rule from "./internal/rules.ts"
import type { Break, Change, Key, Rules } from "./unstable/TestingRules.ts"

export { closed, required, rule } from "./internal/rules.ts"
export type { Rules }

/**
 * An input that breaks one rule. `path` is the path of the invalid part, with the key names of `input`. `rule` is the
 * name of the rule, and `code` the error code that the service answers, where one is known. `input` has the type of a
 * valid input, so that a test can pass it on, although its value may not have this type.
 *
 * @since 0.1.0
 * @category models
 */
export interface Invalid<out A> {
  readonly rule: string
  readonly path: ReadonlyArray<PropertyKey>
  readonly code: string | undefined
  readonly input: A
}

/**
 * A rule of the inputs of one schema or operation, in one form. `invalid` generates inputs that break only this rule,
 * and `edge`, if the rule has limits, valid inputs at these limits, whose other parts are simple.
 *
 * @since 0.1.0
 * @category models
 */
export interface Case<out A> {
  readonly name: string
  readonly path: ReadonlyArray<PropertyKey>
  readonly code: string | undefined
  readonly invalid: Arbitrary.Arbitrary<Invalid<A>>
  readonly edge: Arbitrary.Arbitrary<A> | undefined
}

/**
 * The decoded form, as a program passes it, and the form on the wire, as a server receives it: params as an object,
 * headers as an object with lowercase names, or the text of one part.
 *
 * @since 0.1.0
 * @category models
 */
export interface Forms<out Decoded, out Wire> {
  readonly decoded: Decoded
  readonly wire: Wire
}

/**
 * Generators of inputs. Half of the `valid` inputs are at the limit of a rule. An `invalid` input breaks one of the
 * `rules`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Inputs<out Type, out Encoded> {
  readonly valid: Forms<Arbitrary.Arbitrary<Type>, Arbitrary.Arbitrary<Encoded>>
  readonly invalid: Forms<Arbitrary.Arbitrary<Invalid<Type>>, Arbitrary.Arbitrary<Invalid<Encoded>>>
  readonly rules: Forms<ReadonlyArray<Case<Type>>, ReadonlyArray<Case<Encoded>>>
}

const none: Arbitrary.Arbitrary<never> = Arbitrary.filter(
  Arbitrary.Constant(undefined),
  (value): value is never => value !== undefined
)

const anyOf = <A>(all: ReadonlyArray<Arbitrary.Arbitrary<A>>): Arbitrary.Arbitrary<A> =>
  all.length === 0 ? none : Rule.oneOf(...all)

/** The inputs that a change makes of the first values that have a place for it. */
const changed = <A>(values: Arbitrary.Arbitrary<ReadonlyArray<A>>, changes: Arbitrary.Arbitrary<Change>) =>
  Arbitrary.filterMap(Arbitrary.all([values, changes]), ([all, { apply, path }]) =>
    // See `Invalid`: the type says what a valid input is.
    Result.fromOption(
      Option.map(Option.firstSomeOf(all.map(apply)), (input) => ({ input: input as A, path })),
      () => undefined
    )
  )

const inputsOf = <A>(all: Arbitrary.Arbitrary<{ readonly input: A }>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(all, ({ input }) => input)

/** The rules in one form, applied to the valid inputs of `base`. */
const casesOf = <A>(base: Arbitrary.Arbitrary<A>, rules: ReadonlyArray<Break>): ReadonlyArray<Case<A>> => {
  const one = Arbitrary.map(base, (valid) => [valid])
  let found: ReadonlyArray<A> | undefined
  // The simplest values first, so that a bug in an optional part does not fail at the limits of other parts.
  const simple = Arbitrary.map(
    Arbitrary.Constant(undefined),
    () => (found ??= [0, 2, 4, 6, 8, 10].flatMap((size) => Rule.sample(base, 10, size)))
  )
  return rules.map(({ bad, code, edge, name, path }) => ({
    name,
    path,
    code,
    invalid: Arbitrary.map(changed(one, bad), (invalid) => ({ rule: name, code, ...invalid })),
    edge: edge && inputsOf(changed(simple, edge))
  }))
}

const withEdges = <A>(base: Arbitrary.Arbitrary<A>, rules: ReadonlyArray<Break>): Arbitrary.Arbitrary<A> => {
  const one = Arbitrary.map(base, (valid) => [valid])
  const edges = rules.flatMap(({ edge }) => (edge === undefined ? [] : [inputsOf(changed(one, edge))]))
  return edges.length === 0 ? base : Rule.oneOf(base, anyOf(edges))
}

const isPlain = (value: unknown): value is Readonly<Record<string, unknown>> =>
  Predicate.isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value))

/** JSON has no negative zero. */
const positiveZeros = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(positiveZeros)
  if (isPlain(value)) return Record.map(value, positiveZeros)
  return value === 0 ? 0 : value
}

/**
 * The inputs of values that `decoded` generates and `encode` writes, with their rules.
 *
 * @since 0.1.0
 * @category constructors
 */
export const from = <T, E>(
  decoded: Arbitrary.Arbitrary<T>,
  encode: (value: T) => E,
  ...rules: ReadonlyArray<Rules>
): Inputs<T, E> => {
  const all = Rule.join(rules)
  const toWire = (value: T) => positiveZeros(encode(value)) as E
  const wire = Arbitrary.map(decoded, toWire)
  const cases = { decoded: casesOf(decoded, all.decoded), wire: casesOf(wire, all.wire) }
  const valid = withEdges(decoded, all.decoded)
  return {
    valid: { decoded: valid, wire: Rule.oneOf(Arbitrary.map(valid, toWire), withEdges(wire, all.wire)) },
    invalid: {
      decoded: anyOf(cases.decoded.map(({ invalid }) => invalid)),
      wire: anyOf(cases.wire.map(({ invalid }) => invalid))
    },
    rules: cases
  }
}

/** Checks that the rules of a test belong to its schema. */
const check = <A>(
  breaks: ReadonlyArray<Break>,
  cases: ReadonlyArray<Case<A>>,
  valid: ReadonlyArray<unknown>,
  run: (input: unknown) => Exit.Exit<unknown, unknown>
): void => {
  const isValid = (input: unknown) => Exit.isSuccess(run(input))
  cases.forEach(({ edge, invalid, name, path }, index) => {
    const { at = [] } = breaks[index] ?? {}
    const refuse = (problem: string) => {
      throw Rule.mistake("Testing.make", path, `the rule "${name}" ${problem}`)
    }
    const partOf = (input: unknown) =>
      Formatter.format(Option.getOrElse(Rule.partAt(input, at), () => input)).slice(0, 200)
    if (cases.findIndex((one) => one.name === name) < index) refuse("is there twice")
    if (!valid.some((value) => Option.isSome(Rule.partAt(value, at)))) refuse("is about a part that no valid value has")
    const bad = Rule.sample(invalid, 10)
    if (bad.length === 0) refuse("has no bad values")
    const accepted = bad.find(({ input }) => isValid(input))
    if (accepted !== undefined) refuse(`has a bad value that the schema accepts: ${partOf(accepted.input)}`)
    const refused = Rule.sample(edge ?? none, 10).find((input) => !isValid(input))
    if (refused !== undefined) refuse(`has an edge that the schema refuses: ${partOf(refused)}`)
  })
}

/**
 * The inputs of a schema of your own, with its rules: rules of the service that {@link at} lifts, and your own from
 * {@link rule}. It throws `InvalidRequest`, which names the rule, if a sample shows that no value has the part of a rule,
 * that `bad` is valid, or that `edge` is invalid.
 *
 * @example
 * Testing.make(
 *   Schema.Struct({ asset: DamAsset.MoveRequest, reason: Schema.NonEmptyString }),
 *   Testing.at(["asset"], Testing.of(DamAsset.MoveRequest)),
 *   Testing.rule({ at: ["reason"], name: "is not empty", bad: Arbitrary.Constant("") })
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = <T, E>(schema: Schema.ConstraintCodec<T, E>, ...rules: ReadonlyArray<Rules>): Inputs<T, E> => {
  const values = Arbitrary.schema(schema)
  const encode = Schema.encodeSync(schema)
  const inputs = from(values, encode, ...rules)
  const { decoded, wire } = Rule.join(rules)
  check(decoded, inputs.rules.decoded, Rule.sample(values, 200), Schema.encodeUnknownExit(schema))
  const onWire = Arbitrary.map(values, (value) => encode(value))
  check(wire, inputs.rules.wire, Rule.sample(onWire, 200), Schema.decodeUnknownExit(schema))
  return inputs
}

/**
 * Lifts the rules of a part into rules of the larger value that contains the part at a path. A key of the path with two
 * names is a pair of its decoded name and its name on the wire.
 *
 * @since 0.1.0
 * @category combinators
 */
export const at = (
  path: ReadonlyArray<Key>,
  { rules }: { readonly rules: Forms<ReadonlyArray<Case<unknown>>, ReadonlyArray<Case<unknown>>> }
): Rules =>
  Rule.inBoth((form) => {
    const outer = Rule.pathIn(form, path)
    return rules[form].map(({ code, edge, invalid, name, path: inner }): Break => ({
      name: outer.map(String).join(".") + (inner.length === 0 ? ": " : ".") + name,
      at: outer,
      path: [...outer, ...inner],
      code,
      bad: Arbitrary.map(invalid, ({ input, path: broken }) => ({
        path: [...outer, ...broken],
        apply: Rule.setter(outer, input)
      })),
      edge: edge && Rule.set(outer, edge)
    }))
  })

/**
 * The inputs of a schema, with all of its rules: each issue with which it refuses values is a rule. `valid` generates the
 * values to start from, if not every value of the schema will do.
 *
 * @since 0.1.0
 * @category constructors
 */
export const of = <T, E>(
  schema: Schema.ConstraintCodec<T, E>,
  { valid }: { readonly valid?: Arbitrary.Arbitrary<T> | undefined } = {}
): Inputs<T, E> => {
  if (!Schema.isSchema(schema)) {
    throw Rule.mistake("Testing.of", [], "Expected an operation, such as Dam.Move, or a schema")
  }
  return from(valid ?? Arbitrary.schema(schema), Schema.encodeSync(schema), Rule.rulesOf(schema))
}
