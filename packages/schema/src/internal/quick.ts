/**
 * Structs of numbers, of which a response holds thousands.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import { NonNegativeInt, type NonNegativeNumber } from "../Scalar.ts"

type Fields = Readonly<Record<string, typeof NonNegativeInt | typeof NonNegativeNumber>>

/**
 * The same struct, with a short way for what is exactly right: no unknown key to leave out, nothing to report. Anything
 * else goes the way of the struct, which finds every issue.
 *
 * Interpreted property by property, 91 days of statistics take four times as long as JSON.parse, this way less than
 * twice. Effect's compiler of schemas does as well, but adds 7 kB to a bundle and needs `new Function`.
 */
export const quick = <F extends Fields>(struct: Schema.Struct<F>) => {
  type Row = Schema.Struct<F>["Type"]
  const names = Object.keys(struct.fields)
  const isInteger = names.map((name) => struct.fields[name] === NonNegativeInt)
  const parse: (input: unknown, options: object) => Effect.Effect<Row, SchemaIssue.Issue> =
    SchemaParser.decodeUnknownEffect(Schema.make<Schema.Codec<Row>>(struct.ast))

  const isExact = (input: unknown): input is Row => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return false
    if (Object.keys(input).length !== names.length) return false
    const record: Readonly<Record<string, unknown>> = { ...input }
    return names.every((name, index) => {
      const value = record[name]
      return typeof value === "number" && value >= 0 && (isInteger[index] ? Number.isInteger(value) : value < Infinity)
    })
  }
  const link = () =>
    Schema.link<Row>()(Schema.make<Schema.Codec<Row>>(struct.ast), {
      decode: SchemaGetter.passthrough(),
      encode: SchemaGetter.passthrough()
    })

  return Schema.declareConstructor<Row>()(
    [],
    () => (input, _ast, options) => (isExact(input) ? Effect.succeed(input) : parse(input, options)),
    { toCodec: link, toCodecArbitrary: link }
  )
}
