/**
 * Whole answers for the handlers of tests, from the parts that a test cares about.
 */
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as Struct from "effect/Struct"
import type * as Operation from "../../unstable/Operation.ts"

/** The keys that every value of a schema has. */
const requiredOf = (schema: { readonly ast: SchemaAST.AST }): ReadonlyArray<PropertyKey> => {
  const ast = SchemaAST.toType(schema.ast)
  return SchemaAST.isObjects(ast)
    ? ast.propertySignatures.filter(({ type }) => !SchemaAST.isOptional(type)).map(({ name }) => name)
    : []
}

/**
 * A value of a schema, or a success of an operation: `part`, and a generated value for every other required key. The same
 * call gives the same value. Optional keys that are not in `part` are absent.
 *
 * @example
 * AssemblyClient.handler(Assemblies.Statistics, () => Testing.sample(Assemblies.Statistics, { totalAssemblies: 3 }))
 *
 * @since 0.1.0
 * @category testing
 */
export const sample: {
  <Op extends Operation.Any>(operation: Op, part?: Partial<Operation.Success<Op>>): Effect.Effect<Operation.Success<Op>>
  <T extends object>(schema: Schema.ConstraintCodec<T, unknown>, part?: Partial<T>): Effect.Effect<T>
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
