/**
 * The rules of a request, each with generators of values that break it and of values at its limit.
 *
 * The rules of a schema are found by trial: each part of a valid value becomes each hostile value. An issue with which
 * the schema refuses a value is a rule. What it accepts is at the limits of these rules.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaParser from "effect/SchemaParser"
import * as AssemblyList from "../AssemblyList.ts"
import * as AssemblyStatistics from "../AssemblyStatistics.ts"
import * as AuthKey from "../AuthKey.ts"
import * as DamAsset from "../DamAsset.ts"
import * as DamEntries from "../DamEntries.ts"
import * as Identifier from "../Identifier.ts"
import { InvalidRequest } from "../InvalidRequest.ts"
import * as Queue from "../Queue.ts"
import * as Template from "../Template.ts"
import * as TemplateCredential from "../TemplateCredential.ts"
import * as Input from "../unstable/Input.ts"
import type { Break, Change, Key, Options, Path, Rules, Values } from "../unstable/TestingRules.ts"
import * as Hostile from "./hostile.ts"

type Form = keyof Rules

/** What both forms have. */
export const inBoth = <A>(of: (form: Form) => A): { readonly decoded: A; readonly wire: A } => ({
  decoded: of("decoded"),
  wire: of("wire")
})

/** Chooses one of several arbitraries with equal probability. */
export const oneOf = <A>(...all: ReadonlyArray<Arbitrary.Arbitrary<A>>): Arbitrary.Arbitrary<A> =>
  Arbitrary.flatMap(
    Arbitrary.schema(Schema.Literals(all.map((_, index) => index))),
    // The index is always in range.
    (index) => all[index] as Arbitrary.Arbitrary<A>
  )

/** Values of a generator, or none if it discards too many. */
export const sample = <A>(generator: Arbitrary.Arbitrary<A>, count: number, size = 10): ReadonlyArray<A> =>
  Effect.runSync(
    Arbitrary.sampleEffect(generator, { count, size, maxDiscards: 1000, seed: "Testing.make" }).pipe(
      Effect.orElseSucceed(() => [])
    )
  )

type Parent = Readonly<Record<PropertyKey, unknown>>

const isParent = (value: unknown): value is Parent => Predicate.isObjectOrArray(value)

/** The part of a value at a path, if it is there. */
export const partAt = (target: unknown, path: Path): Option.Option<unknown> => {
  const [key, ...rest] = path
  if (key === undefined) return Option.some(target)
  if (!isParent(target) || Array.isArray(target) !== (typeof key === "number")) return Option.none()
  return Object.hasOwn(target, key) ? partAt(target[key], rest) : Option.none()
}

/** A copy of the same class. */
const copyOf = (target: object): object =>
  Object.create(Object.getPrototypeOf(target), Object.getOwnPropertyDescriptors(target))

const plain = { configurable: true, enumerable: true, writable: true }

/**
 * A copy of a value whose part at a path is another, or is taken out. None if there is no place for this change: a key is
 * added to an object only, and taken out of an object only.
 */
const withPart = (target: unknown, path: Path, part: Option.Option<unknown>): Option.Option<unknown> => {
  const [key, ...rest] = path
  if (key === undefined) return part
  const isArray = Array.isArray(target)
  if (!isParent(target) || isArray !== (typeof key === "number")) return Option.none()
  const isAdded = rest.length === 0 && !isArray && Option.isSome(part)
  if (!isAdded && !Object.hasOwn(target, key)) return Option.none()
  const changed = rest.length === 0 ? part : withPart(target[key], rest, part)
  if (isArray) return Option.map(changed, (value) => target.with(Number(key), value))
  if (Option.isNone(changed) && rest.length > 0) return changed
  const copy = copyOf(target)
  if (Option.isSome(changed)) Object.defineProperty(copy, key, { ...plain, value: changed.value })
  else Reflect.deleteProperty(copy, key)
  return Option.some(copy)
}

/** Sets the part at a path to a value. */
export const setter =
  (path: Path, value: unknown): Change["apply"] =>
  (valid) =>
    withPart(valid, path, Option.some(value))

/** Removes the key at a path. */
const remover =
  (path: Path): Change["apply"] =>
  (valid) =>
    withPart(valid, path, Option.none())

export const pathIn = (form: Form, keys: ReadonlyArray<Key>): Path =>
  keys.map((key) => (typeof key === "object" ? key[form === "decoded" ? 0 : 1] : key))

/** A mistake in the rules of a test. */
export const mistake = (operation: string, path: Path, message: string): InvalidRequest =>
  new InvalidRequest({
    operation,
    issues: [{ path: path.map((key) => (Number.isFinite(key) ? Number(key) : String(key))), message }]
  })

const valuesIn = (form: Form, all: Values | undefined): Arbitrary.Arbitrary<unknown> | undefined =>
  all === undefined || Arbitrary.isArbitrary(all) ? all : all[form]

/** Sets the part at a path to the generated values. `below` is the path of the invalid part inside these values. */
export const set = (path: Path, to: Arbitrary.Arbitrary<unknown>, below: Path = []): Arbitrary.Arbitrary<Change> =>
  Arbitrary.map(to, (value) => ({ path: [...path, ...below], apply: setter(path, value) }))

/** A rule in the forms in which `bad` has changes of the part at a path. */
const inForms = (
  { at, code, name }: Pick<Options, "at" | "code" | "name">,
  changes: (path: Path, form: Form) => (Pick<Break, "bad"> & Partial<Break>) | undefined
): Rules =>
  inBoth((form) => {
    const path = pathIn(form, at)
    const found = changes(path, form)
    const parts = path.length === 0 ? [name] : [path.map(String).join("."), name]
    return found === undefined ? [] : [{ name: parts.join(" "), at: path, path, code, edge: undefined, ...found }]
  })

/**
 * A rule of one part of a request.
 *
 * @since 0.1.0
 * @category constructors
 */
export const rule = (options: Options): Rules =>
  inForms(options, (path, form) => {
    const broken = valuesIn(form, options.bad)
    const valid = valuesIn(form, options.edge)
    return broken && { bad: set(path, broken, options.below), edge: valid && set(path, valid) }
  })

/**
 * The rule that a key is required. The last key of the path is taken out.
 *
 * @since 0.1.0
 * @category constructors
 */
export const required = (at: ReadonlyArray<Key>, code?: string): Rules =>
  inForms({ at, name: "is required", code }, (path) => ({
    bad: Arbitrary.Constant({ path, apply: remover(path) })
  }))

const unknown = Arbitrary.schema(Schema.String.check(Schema.isPattern(/^x_[a-z]{1,8}$/)))

/**
 * The rule that the object at a path has no unknown key.
 *
 * @since 0.1.0
 * @category constructors
 */
export const closed = (at: ReadonlyArray<Key> = [], code?: string): Rules =>
  inForms({ at, name: "has no unknown key", code }, (path) => ({
    bad: Arbitrary.map(unknown, (key) => ({ path: [...path, key], apply: setter([...path, key], "surplus") }))
  }))

export const join = (all: ReadonlyArray<Rules>): Rules => inBoth((form) => all.flatMap((rules) => rules[form]))

type Codec = Schema.ConstraintCodec<unknown, unknown>

/** The error codes with which the service refuses invalid requests: one for the whole request, or for each part. */
const codes = new Map<Codec, string | Readonly<Record<PropertyKey, string>>>([
  [AssemblyList.Query, "ASSEMBLY_LIST_ERROR"],
  [AssemblyStatistics.Query, { region: "ASSEMBLY_STATS_MISSING_REGION", since: "ASSEMBLY_STATS_INVALID_TIME" }],
  [AuthKey.CreateRequest, "AUTH_KEY_NOT_CREATED"],
  [AuthKey.UpdateRequest, "AUTH_KEY_NOT_UPDATED"],
  [Template.Query, "TEMPLATE_LIST_ERROR"],
  [Template.CreateRequest, "TEMPLATE_VALIDATION_ERROR"],
  [Template.UpdateRequest, "TEMPLATE_VALIDATION_ERROR"],
  [TemplateCredential.CreateRequest, "TEMPLATE_CREDENTIALS_NOT_CREATED"],
  [TemplateCredential.UpdateRequest, "TEMPLATE_CREDENTIALS_NOT_UPDATED"],
  [
    Queue.StatisticsQuery,
    {
      region: "PRIORITY_JOB_SLOT_STATS_MISSING_REGION",
      since: "PRIORITY_JOB_SLOT_STATS_INVALID_TIME",
      aggregation: "PRIORITY_JOB_SLOT_STATS_INVALID_AGGREGATION"
    }
  ],
  ...[
    DamAsset.MoveRequest,
    DamEntries.GetQuery,
    DamEntries.ListQuery,
    DamEntries.MoveManyRequest,
    DamEntries.DeleteManyRequest,
    DamEntries.MoveEntryRequest,
    Identifier.AssetId
  ].map((schema: Codec) => [schema, "DAM_INVALID_REQUEST"] as const)
])

const codeOf = (schema: Codec, [key = ""]: Path): string | undefined => {
  const found = codes.get(schema)
  return typeof found === "object" ? (Object.hasOwn(found, key) ? found[key] : undefined) : found
}

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
      const found = rules.get(name) ?? { name, at: part, path: part, code: codeOf(schema, path), bad: [], edge }
      found.bad.push({ path, apply, value })
      rules.set(name, found)
    }
  }
  const all = (changes: ReadonlyArray<Change>) => oneOf(...changes.map((change) => Arbitrary.Constant(change)))
  return Array.from(rules.values(), ({ bad, edge, ...found }) => ({
    ...found,
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
