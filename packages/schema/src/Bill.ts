/**
 * The bill of a month.
 *
 * These schemas are beyond the specification: spec.md names the operation, but does not define its response.
 *
 * The index does not export this module: `import * as Bill from "@assembly-effect/schema/Bill"`.
 */
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { lenient } from "./unstable/Field.ts"
import { kept, named, type Structure } from "./unstable/Struct.ts"

/**
 * A month as `YYYY-MM`.
 *
 * Beyond the specification.
 *
 * @example `Bill.Month.make("2026-01")`
 *
 * @since 0.1.0
 * @category schemas
 */
export const Month = Schema.String.check(
  Schema.isPattern(/^\d{4}-(?:0[1-9]|1[0-2])$/u, { expected: "a month as YYYY-MM" })
).pipe(Schema.brand("Month"))
/**
 * @since 0.1.0
 * @category models
 */
export type Month = typeof Month.Type

/** A number, or a number as text. */
const Amount = Schema.Union([
  Schema.Finite,
  Schema.String.check(Schema.isPattern(/^-?\d{1,15}(?:\.\d{1,15})?$/u, { expected: "a number in digits" }))
]).pipe(
  Schema.decodeTo(Schema.Finite, {
    decode: SchemaGetter.transform((amount) => Number(amount)),
    encode: SchemaGetter.passthrough({ strict: false })
  })
)

const text = lenient(Schema.String)
const amount = lenient(Amount)

/**
 * The bill of a month. `total`, `sub_total` and `credit` are in `currency`. `plan` and `robots` are kept as the service
 * sends them, and so are unknown fields. An amount or a text whose value has the wrong type is left out.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Bill = kept({
  ok: Schema.Literal("BILL_FOUND"),
  message: text,
  month: text,
  total: amount,
  sub_total: amount,
  credit: amount,
  currency: text,
  invoice_id: text,
  plan: Schema.optionalKey(Schema.Json),
  robots: Schema.optionalKey(Schema.Json)
}).pipe(named<Bill, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Bill extends Structure<typeof Bill> {}
