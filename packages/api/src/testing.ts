/**
 * Property tests of operations: their inputs, valid ones and ones that break exactly one rule, and their answers. For
 * tests only: no other module of this package loads this one. It needs no test framework.
 *
 * @example
 * Arbitrary.checkEffect(
 *   Testing.of(Dam.Move).invalid.wire,
 *   ({ input }) => Schema.decodeUnknownExit(DamAsset.MoveRequest)(input.params)._tag === "Failure"
 * )
 */
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Testing from "@assembly-effect/schema/testing"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Arbitrary from "effect/Arbitrary"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Struct from "effect/Struct"
import * as Assemblies from "./Assemblies.ts"
import { checkSteps } from "./internal/assemblies.ts"
import * as Generated from "./internal/generated.ts"
import type * as Operation from "./unstable/Operation.ts"

export { layerGenerated, NeverDrawn, report } from "./internal/generated.ts"
export type { Answer, AnswerCase, Report } from "./internal/generated.ts"
// The `of` below takes operations too.
export * from "@assembly-effect/schema/testing"

/**
 * The input of an operation as a server receives it: the texts in its path, its params as an object, and its form fields.
 *
 * @since 0.1.0
 * @category models
 */
export interface Wire<Op extends Operation.Any> {
  readonly path: { readonly [Name in keyof Op["variables"]]: string }
  readonly params: Op["params"]["Encoded"]
  readonly fields: Op["fields"]["Encoded"]
}

/**
 * The generated requests and answers of an operation.
 *
 * - `params`: the params alone, for example to lift their rules into a schema of your own with `Testing.at`.
 * - `answers`: a success, each declared error, and broken answers.
 * - `scopes`: the scopes of Auth Keys that may and that may not send the request. `lacking` generates nothing if the
 *   operation needs no scope.
 *
 * @since 0.1.0
 * @category models
 */
export interface OperationInputs<Op extends Operation.Any> extends Testing.Inputs<Operation.Input<Op>, Wire<Op>> {
  readonly params: Testing.Inputs<Op["params"]["Type"], Op["params"]["Encoded"]>
  readonly answers: ReadonlyArray<Generated.AnswerCase>
  readonly scopes: {
    readonly enough: Arbitrary.Arbitrary<ReadonlyArray<Auth.Scope>>
    readonly lacking: Arbitrary.Arbitrary<ReadonlyArray<Auth.Scope>>
  }
}

/**
 * - `now`: the time of the fixed clock at which the test sends the requests. With it, the limits of `since` are exact.
 * - `params`: generates the params to start from, for example those of the regions that a server has.
 * - `assemblyId`: the Assembly in the path of the requests that `answers` answers.
 */
type OfOptions<Op extends Operation.Any> = {
  readonly now?: DateTime.Utc | undefined
  readonly params?: Arbitrary.Arbitrary<Op["params"]["Type"]> | undefined
  readonly assemblyId?: string | undefined
}

/** `read` and `write` contain every scope that ends with them. */
const scopesOf = (scope = ""): OperationInputs<Operation.Any>["scopes"] => {
  const isEnough = (one: string) => one === scope || one === scope.slice(scope.indexOf(":") + 1)
  const some = (all: ReadonlyArray<typeof Auth.KnownScope.Type>) => Arbitrary.schema(Schema.Literals(all))
  const others = Arbitrary.array(some(Auth.KnownScope.literals.filter((one) => !isEnough(one))), { maxLength: 4 })
  // An operation without a scope needs none, so that none is lacking.
  const own = scope === "" ? some(["read"]) : some(Auth.KnownScope.literals.filter(isEnough))
  return {
    enough: Arbitrary.map(Arbitrary.all([others, own]), ([more, one]) => [...more, one]),
    lacking: Arbitrary.filter(others, () => scope !== "")
  }
}

/** The rules of a check, and valid params of a schema that pass this check. */
interface Check {
  readonly rules: ReadonlyArray<Testing.Rules>
  readonly accepted: (params: Arbitrary.Arbitrary<unknown>) => Arbitrary.Arbitrary<unknown>
}

/**
 * The lookback of statistics. Its limit is exact only at `now`, the time at which a test with a fixed clock sends its
 * requests: the clock of the machine goes on after a request was generated.
 */
const lookback = (now: DateTime.Utc | undefined): Check => {
  const end = now ?? DateTime.nowUnsafe()
  const ago = (days: number) => DateTime.subtract(end, { days })
  const earliest = ago(91)
  // Also before a `TestClock`, which starts in 1970.
  const old = DateTime.makeUnsafe("1900-01-01T00:00:00Z")
  const bad = now === undefined ? [old] : [old, DateTime.subtractDuration(earliest, "1 millis")]
  const oneOf = (...times: ReadonlyArray<DateTime.Utc>) => ({
    decoded: Generated.oneOf(...times),
    wire: Generated.oneOf(...times.map(DateTime.formatIso))
  })
  return {
    rules: [
      Testing.rule({
        at: ["params", "since"],
        name: "is at most 91 days ago",
        bad: oneOf(...bad),
        edge: now === undefined ? undefined : oneOf(earliest),
        code: "ASSEMBLY_STATS_INVALID_TIME"
      })
    ],
    accepted: (params) =>
      Arbitrary.map(
        Arbitrary.all([params, Generated.oneOf<unknown>(end, ago(1), ago(90), DateTime.formatIso(ago(30)))]),
        ([valid, since]) => ({ ...Object(valid), since })
      )
  }
}

/** The service itself accepts these Steps, and the Assembly then fails. It ignores unknown keys. */
const instructions = (params: Schema.ConstraintCodec<unknown, unknown>): Check => {
  const isValid = Schema.makeFilter((decoded) =>
    checkSteps(Object(decoded)).map(({ message, path }) => ({ path, issue: message }))
  )
  const known = new Set(Testing.of(params).rules.decoded.map(({ name }) => name))
  const { decoded } = Testing.of(Schema.make<Schema.Codec<unknown>>(params.ast).check(isValid)).rules
  const added = decoded.filter(({ name }) => !known.has(name))
  return {
    rules: [
      Testing.at(["params"], { rules: { decoded: added, wire: [] } }),
      { decoded: Testing.closed(["params", "auth"]).decoded, wire: [] }
    ],
    accepted: Arbitrary.filter((all) => checkSteps(Object(all)).length === 0)
  }
}

const unchecked: Check = { rules: [], accepted: (params) => params }

/** The rules of the check of an operation. */
const checkOf = ({ check, params }: Operation.Any, now: DateTime.Utc | undefined): Check => {
  if (check === Assemblies.Statistics.check) return lookback(now)
  return check === checkSteps ? instructions(params) : unchecked
}

/** The rule that a part has no unknown key, which only a program can break: the service ignores such a key. */
const closed = (part: "params" | "fields"): Testing.Rules => ({ ...Testing.closed([part]), wire: [] })

const constant = (value: object) => ({ decoded: Arbitrary.Constant(value) })

const deep = Array.from({ length: Json.maxDepth + 1 }).reduce<object>((inner) => ({ inner }), {})

/** The rules of the params of every operation, which only a program can break. */
const encodable: ReadonlyArray<Testing.Rules> = [
  Testing.rule({ at: ["params"], name: "has keys", bad: constant(new Map()) }),
  Testing.rule({ at: ["params"], name: `is at most ${Json.maxDepth} levels`, bad: constant(deep) }),
  closed("params")
]

/** The inputs of a part, which has no rules if it is left out of the request. */
const inputsOf = (schema: Schema.ConstraintCodec<unknown, unknown>, valid = Arbitrary.schema(schema)) =>
  schema === Input.nothing ? Testing.from(valid, Schema.encodeSync(schema)) : Testing.of(schema, { valid })

const build = <Op extends Operation.Any>(
  operation: Op,
  { assemblyId = "0".repeat(32), now, params: given }: OfOptions<Op> = {}
): OperationInputs<Op> => {
  if (now !== undefined && !DateTime.isDateTime(now)) {
    const issues = [{ path: ["now"], message: "Expected a DateTime of Effect" }]
    throw new InvalidRequest({ operation: "Testing.of", issues })
  }
  const check = checkOf(operation, now)
  const variables = Schema.Struct(operation.variables)
  const params = inputsOf(operation.params, check.accepted(given ?? Arbitrary.schema(operation.params)))
  const fields = inputsOf(operation.fields)
  const inputs = Testing.from(
    Arbitrary.all({ path: Arbitrary.schema(variables), params: params.valid.decoded, fields: fields.valid.decoded }),
    Schema.encodeUnknownSync(Schema.Struct({ path: variables, params: operation.params, fields: operation.fields })),
    ...Object.entries(operation.variables).map(([name, schema]) => Testing.at(["path", name], inputsOf(schema))),
    Testing.at(["params"], params),
    ...(operation.params === Input.nothing ? [] : encodable),
    ...check.rules,
    // A form has fields, and no value of another type in their place.
    Testing.at(["fields"], {
      rules: { decoded: fields.rules.decoded, wire: fields.rules.wire.filter(({ path }) => path.length > 0) }
    }),
    ...(operation.fields === Input.nothing ? [] : [closed("fields")])
  )
  return {
    // The generators of the schemas of an operation generate its input.
    ...(inputs as unknown as Testing.Inputs<Operation.Input<Op>, Wire<Op>>),
    params,
    answers: Generated.answersOf(operation, assemblyId),
    scopes: scopesOf(operation.scope)
  }
}

/**
 * The generated requests and answers of an operation, or the inputs of a schema.
 *
 * **Details**
 *
 * The input of an operation has the parts `path`, `params` and `fields`. `rules.decoded` and `rules.wire` list all of its
 * rules, for example for `it.each`. An operation without any params has no rules.
 *
 * @example
 * const names = Testing.of(Assemblies.List).rules.wire.map(({ name }) => name)
 *
 * @since 0.1.0
 * @category constructors
 */
export const of: {
  <Op extends Operation.Any>(operation: Op, options?: OfOptions<Op>): OperationInputs<Op>
  <T, E>(
    schema: Schema.ConstraintCodec<T, E>,
    options?: { readonly valid?: Arbitrary.Arbitrary<T> | undefined }
  ): Testing.Inputs<T, E>
} = (subject: Operation.Any | Schema.ConstraintCodec<unknown, unknown>, options?: object) =>
  // A schema has no `variables`.
  (Predicate.hasProperty(subject, "variables") ? build(subject, options) : Testing.of(subject, options)) as never

/** The keys that every value of a schema has. */
const requiredOf = (schema: { readonly ast: SchemaAST.AST }): ReadonlyArray<PropertyKey> => {
  const ast = SchemaAST.toType(schema.ast)
  return SchemaAST.isObjects(ast)
    ? ast.propertySignatures.filter(({ type }) => !SchemaAST.isOptional(type)).map(({ name }) => name)
    : []
}

/**
 * A value of a schema, or a success of an operation: `part`, and a generated value for every other required key. The same
 * call gives the same value. Optional keys that are not in `part` are absent. A value in `part` is whole: make the items of
 * a list with `Testing.sample(AssemblyList.Entry, …)`.
 *
 * @example
 * AssemblyClient.handler(Assemblies.Statistics, () => Testing.sample(Assemblies.Statistics, { totalAssemblies: 3 }))
 *
 * @since 0.1.0
 * @category testing
 */
export const sample: {
  // TypeScript explains a wrong argument with the last signature.
  <T extends object>(schema: Schema.ConstraintCodec<T, unknown>, part?: Partial<T>): Effect.Effect<T>
  <Op extends Operation.Any>(operation: Op, part?: Partial<Operation.Success<Op>>): Effect.Effect<Operation.Success<Op>>
} = (subject: Operation.Any | Schema.ConstraintCodec<unknown, unknown>, part: object = {}) => {
  // A schema has no `variables`.
  const schema = Predicate.hasProperty(subject, "variables") ? subject.success : subject
  return Arbitrary.sampleEffect(Arbitrary.schema(schema), { count: 1, size: 0, seed: "Testing.sample" }).pipe(
    Effect.orDie,
    Effect.map(([generated]) => {
      const rest = requiredOf(schema).filter((key) => !Object.hasOwn(part, key))
      return Object.assign(Struct.pick(generated as Record<PropertyKey, unknown>, rest), part)
    })
  ) as never
}
