/**
 * Finds the rules of a schema by trial: each part of a valid value becomes each hostile value. An issue with which the
 * schema refuses a value is a rule. What it accepts is at the limits of these rules.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import * as Input from "../../unstable/Input.ts"
import type { Break, Change, Path, Rules } from "../../unstable/TestingRules.ts"
import { codeOf } from "./codes.ts"
import * as Hostile from "./hostile.ts"
import { type Form, inBoth, oneOf, remover, sample, setter } from "./rule.ts"

type Codec = Schema.ConstraintCodec<unknown, unknown>

/**
 * A part of a value: its path, and the path of the part that is set to a hostile value, or to what contains this value,
 * such as a list of it.
 */
interface Place {
  readonly path: Path
  readonly at: Path
  readonly isRequired?: boolean
  readonly wrap?: (value: unknown) => unknown
  /** Values that are hostile only here. */
  readonly own?: ReadonlyArray<unknown>
}

/** A literal in the other case. */
const similar = (ast: SchemaAST.AST): ReadonlyArray<string> =>
  SchemaAST.isLiteral(ast) && typeof ast.literal === "string"
    ? [ast.literal.toUpperCase(), ast.literal.toLowerCase()].filter((other) => other !== ast.literal)
    : []

const exampleOf = (ast: SchemaAST.AST): unknown => sample(Arbitrary.schema(Schema.make<Codec>(ast)), 1)[0]

const placesIn = (ast: SchemaAST.AST, place: Place): ReadonlyArray<Place> => {
  const { at, path, wrap } = place
  const inside = (type: SchemaAST.AST, key: PropertyKey, around: (value: unknown) => unknown) =>
    placesIn(type, { path: [...path, key], at, wrap: wrap === undefined ? around : (value) => wrap(around(value)) })
  switch (ast._tag) {
    case "Union":
      return [
        { ...place, own: ast.types.flatMap(similar) },
        ...ast.types.flatMap((type) => placesIn(type, place).slice(1))
      ]
    case "Arrays":
      return [
        { ...place, own: ast.rest.flatMap((type) => [Array(501).fill(exampleOf(type))]) },
        ...ast.rest.flatMap((type) => inside(type, 0, (value) => [value]))
      ]
    case "Objects":
      return [
        place,
        ...ast.propertySignatures.flatMap(({ name, type }) =>
          wrap === undefined
            ? placesIn(type, { path: [...path, name], at: [...at, name], isRequired: !SchemaAST.isOptional(type) })
            : inside(type, name, (value) => ({ ...Object(exampleOf(ast)), [name]: value }))
        ),
        ...ast.indexSignatures
          .slice(0, 1)
          .flatMap(({ type }) =>
            wrap === undefined
              ? placesIn(type, { path: [...path, "a"], at: [...at, "a"], wrap: (value) => value })
              : inside(type, "a", (value) => ({ a: value }))
          )
      ]
    default:
      return [{ ...place, own: similar(ast) }]
  }
}

/**
 * Whether a value is at the limit of a rule, and not only in the schema: the service has further rules of Steps and of
 * lone surrogates.
 */
const isEdge = (value: unknown): boolean =>
  typeof value === "string" ? value.isWellFormed() : !Predicate.isObjectOrArray(value) || Equal.equals(value, [])

/** A rule, and the values that break it. */
interface Found extends Omit<Break, "bad" | "edge"> {
  readonly bad: Array<Change & { readonly value: unknown }>
  readonly edge: Array<Change>
}

/** Where values of several types break a rule, a few of each type, so that each of them is met. */
const few = (bad: Found["bad"]): ReadonlyArray<Change> => {
  const types = Map.groupBy(bad, ({ value }) => typeof value)
  return types.size === 1 ? bad : Array.from(types.values(), (some) => some.slice(0, 6)).flat()
}

const breaksIn = (schema: Codec, form: Form): ReadonlyArray<Break> => {
  const isWire = form === "wire"
  const values = Arbitrary.schema(schema)
  // Small values: a secret of a few characters is no secret that others have.
  const bases = sample(isWire ? Arbitrary.map(values, Schema.encodeSync(schema)) : values, 30, 2)
  const options = { errors: "all" } as const
  const run = isWire
    ? SchemaParser.decodeUnknownResult(schema, options)
    : SchemaParser.encodeUnknownResult(schema, options)
  const ast = isWire ? SchemaAST.toEncoded(schema.ast) : SchemaAST.toType(schema.ast)
  const hostile = isWire ? Hostile.json : [...Hostile.json, ...Hostile.others]
  const places = placesIn(ast, { path: [], at: [] })
  const parts = places.map((place) => place.path).toSorted((a, b) => b.length - a.length)
  const rules = new Map<string, Found>()

  for (const { at, isRequired = false, own = [], wrap = (value: unknown) => value } of places) {
    const base = bases.find((one) => Option.isSome(setter(at, null)(one)))
    const edge: Array<Change> = []
    // Objects with keys are for a part: in place of the whole value, they break a rule for each of their keys.
    const fitting = hostile.filter((value) => at.length > 0 || !Predicate.isObject(value) || Equal.equals(value, {}))
    const attempts = [...own, ...fitting].map((value) => [value, setter(at, wrap(value))] as const)
    if (isRequired) attempts.push([undefined, remover(at)])
    for (const [value, apply] of attempts) {
      const tried = Option.map(apply(base), (input) => run(input))
      if (Option.isNone(tried)) continue
      if (Result.isSuccess(tried.value)) {
        if (isEdge(value)) edge.push({ path: at, apply })
        continue
      }
      const [broken, ...others] = Input.fromSchemaIssue(tried.value.failure)
      if (broken === undefined || others.some((other) => !Equal.equals(other, broken))) continue
      const { message, path } = broken
      const part = parts.find((one) => one.every((key, index) => key === path[index])) ?? []
      const name = [part.join("."), message].filter((text) => text !== "").join(": ")
      const rule = rules.get(name) ?? { name, at: part, path: part, code: codeOf(schema, path), bad: [], edge }
      rule.bad.push({ path, apply, value })
      rules.set(name, rule)
    }
  }
  const all = (changes: ReadonlyArray<Change>) => oneOf(...changes.map((change) => Arbitrary.Constant(change)))
  return Array.from(rules.values(), ({ bad, edge, ...rule }) => ({
    ...rule,
    bad: all(few(bad)),
    edge: edge.length === 0 ? undefined : all(edge)
  }))
}

const known = new WeakMap<Codec, Rules>()

export const rulesOf = (schema: Codec): Rules => {
  const rules = known.get(schema) ?? inBoth((form) => breaksIn(schema, form))
  known.set(schema, rules)
  return rules
}
