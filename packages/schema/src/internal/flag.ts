/**
 * Booleans that the service may write as 0 and 1.
 */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

const Wire = Schema.Union([Schema.Literals([0, 1]), Schema.Boolean])

const decode = SchemaGetter.transform((wire: typeof Wire.Type) => wire === 1 || wire === true)

/** A boolean that is encoded as 0 or 1. Decoding also accepts true and false. */
export const Flag = Wire.pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode,
    encode: SchemaGetter.transform((value): typeof Wire.Type => (value ? 1 : 0))
  })
)

/** A boolean that is encoded as true or false. Decoding also accepts 0 and 1. */
export const Switch = Wire.pipe(
  Schema.decodeTo(Schema.Boolean, { decode, encode: SchemaGetter.transform((value): typeof Wire.Type => value) })
)
