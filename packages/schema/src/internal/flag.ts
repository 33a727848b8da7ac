/**
 * Booleans that the service writes as 0 and 1.
 */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

const Wire = Schema.Union([Schema.Literals([0, 1]), Schema.Boolean])

const decode = SchemaGetter.transform((wire: typeof Wire.Type) => wire === 1 || wire === true)

/** A boolean that is written as 0 or 1. A boolean is read too. */
export const Flag = Wire.pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode,
    encode: SchemaGetter.transform((value): typeof Wire.Type => (value ? 1 : 0))
  })
)

/** A boolean that is written as one. 0 and 1 are read too. */
export const Switch = Wire.pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode,
    encode: SchemaGetter.transform((value): typeof Wire.Type => value)
  })
)
