import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"

const isObject = (u: unknown): u is object => typeof u === "object" && u !== null && !Array.isArray(u)

const strict = (options: SchemaAST.ParseOptions): SchemaAST.ParseOptions => ({ ...options, onExcessProperty: "error" })

/**
 * A struct that refuses unknown keys by itself.
 *
 * Effect decides about unknown keys by a parse option, which every caller would have to remember. Where spec.md says
 * "no other keys are accepted" the rule belongs to the schema, in both directions: an unknown key is neither decoded
 * nor encoded away in silence.
 */
export const closed = <S extends Schema.ConstraintCodec<object, object>>(
  schema: S
): Schema.Codec<S["Type"], S["Encoded"]> => {
  const decode = SchemaParser.decodeUnknownEffect(schema)
  const encode = SchemaParser.encodeUnknownEffect(schema)
  const type = Schema.toType(schema)
  const check = SchemaParser.decodeUnknownEffect(type)

  const Type = Schema.declareConstructor<S["Type"]>()(
    [],
    () =>
      (input, _ast, options): Effect.Effect<S["Type"], SchemaIssue.Issue> =>
        check(input, strict(options)),
    {
      toCodecArbitrary: () =>
        Schema.link<S["Type"]>()(type, { decode: SchemaGetter.passthrough(), encode: SchemaGetter.passthrough() })
    }
  )
  return Schema.declare<S["Encoded"]>(isObject, { expected: "an object" }).pipe(
    Schema.decodeTo(Type, {
      decode: SchemaGetter.transformEffect((input, options) => decode(input, strict(options))),
      encode: SchemaGetter.transformEffect((value, options) => encode(value, strict(options)))
    })
  )
}
