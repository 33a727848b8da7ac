/**
 * A fast path for the schemas of values that occur many times in one response.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as SchemaParser from "effect/SchemaParser"
import { NonNegativeInt, type NonNegativeNumber } from "../unstable/Field.ts"

/**
 * Adds a fast path to a schema: if `isExact` accepts the input, the input is returned unchanged. The schema decodes all
 * other input. `isExact` may refuse valid input, but must not accept input that the schema would refuse or change.
 */
export const shortcut = <S extends Schema.Codec<unknown>>(schema: S, isExact: (input: unknown) => boolean) => {
  type Row = S["Type"]
  const codec = Schema.make<Schema.Codec<Row>>(schema.ast)
  const parse = SchemaParser.decodeUnknownEffect(codec)
  const link = () =>
    Schema.link<Row>()(codec, { decode: SchemaGetter.passthrough(), encode: SchemaGetter.passthrough() })

  return Schema.declareConstructor<Row, S["Encoded"]>()(
    [],
    () => (input, _ast, options) => (isExact(input) ? Effect.succeed(input as Row) : parse(input, options)),
    { toCodec: link, toCodecArbitrary: link }
  )
}

type Fields = Readonly<Record<string, typeof NonNegativeInt | typeof NonNegativeNumber>>

/**
 * A struct of numbers with a {@link shortcut}.
 *
 * Parsing and decoding 91 days of statistics field by field takes more than twice as long as `JSON.parse` alone. With
 * the shortcut, it takes at most 1.5 times as long. Effect's schema compiler is also fast, but adds 7 kB to a bundle
 * and needs `new Function`.
 */
export const quick = <S extends Schema.Codec<unknown> & { readonly fields: Fields }>(struct: S) => {
  const names = Object.keys(struct.fields)
  const isInteger = names.map((name) => struct.fields[name] === NonNegativeInt)

  return shortcut(Schema.make<Schema.Codec<S["Type"]>>(struct.ast), (input) => {
    if (!Predicate.isObject(input) || Object.keys(input).length !== names.length) return false
    return names.every((name, index) => {
      const value = input[name]
      return typeof value === "number" && value >= 0 && (isInteger[index] ? Number.isInteger(value) : value < Infinity)
    })
  })
}
