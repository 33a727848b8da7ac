/**
 * Secret values, which only `Redacted.value` shows.
 */
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/**
 * Redacts the decoded value of a schema under a label. Encoding accepts any label, because a program may redact a value
 * under another label. `Schema.RedactedFromValue` with a label would refuse that value.
 */
export const secret = <A, I>(schema: Schema.Codec<A, I>, label: string) =>
  schema.pipe(
    Schema.decodeTo(Schema.Redacted(Schema.toType(schema)), {
      decode: SchemaGetter.transform((value: A) => Redacted.make(value, { label })),
      encode: SchemaGetter.transform((redacted: Redacted.Redacted<A>) => Redacted.value(redacted))
    })
  )
