/**
 * Values that only `Redacted.value` shows.
 */
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/**
 * The same value, redacted under a label. It is encoded with any label: `Schema.RedactedFromValue` refuses all others.
 */
export const secret = <A, I>(schema: Schema.Codec<A, I>, label: string) =>
  schema.pipe(
    Schema.decodeTo(Schema.Redacted(Schema.toType(schema)), {
      decode: SchemaGetter.transform((value: A) => Redacted.make(value, { label })),
      encode: SchemaGetter.transform((redacted: Redacted.Redacted<A>) => Redacted.value(redacted))
    })
  )
