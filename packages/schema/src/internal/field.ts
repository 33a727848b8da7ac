/**
 * Fields of the resources in requests and responses.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/**
 * A key that is absent if its value does not decode, so that the other fields of a response stay readable. For example, a
 * malformed `region` must not hide the state of an Assembly.
 *
 * Fields without which the resource would have a different meaning, such as `assembly_id`, `ok` and `error` of a Status,
 * are not optional in this way: a value of the wrong type in such a field is an error.
 */
export const orAbsent = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.catchDecoding<S>(() => Effect.succeedNone)(schema))

/** A key that may be null, and is absent if its value does not decode. */
export const lenient = <S extends Schema.Constraint>(schema: S) => orAbsent(Schema.NullOr(schema))

/** Filters the input of a schema. `sift` removes values of the wrong type before the schema decodes the rest. */
const sifted = <S extends Schema.Codec<unknown>>(schema: S, sift: (input: unknown) => unknown) =>
  Schema.make<Schema.Codec<S["Type"], S["Encoded"]>>(
    Schema.Unknown.pipe(
      Schema.decodeTo(schema, {
        decode: SchemaGetter.transform<S["Encoded"], unknown>(sift),
        encode: SchemaGetter.passthrough<unknown>()
      })
    ).ast
  )

/** An array of objects. Elements that are not objects are left out. */
export const objects = <S extends Schema.Codec<object>>(item: S) =>
  sifted(Schema.Array(item), (input) => (Array.isArray(input) ? input.filter(Predicate.isObject) : input))

/** An object of arrays of objects. Keys whose value is not an array are left out. */
export const objectsByKey = <S extends Schema.Codec<object>>(item: S) =>
  sifted(Schema.Record(Schema.String, objects(item)), (input) =>
    Predicate.isObject(input)
      ? Object.fromEntries(Object.entries(input).filter(([, value]) => Array.isArray(value)))
      : input
  )

/** A boolean that the service may write as 0 and 1. */
const Bit = Schema.Union([Schema.Literals([0, 1]), Schema.Boolean])

const fromBit = (encode: (value: boolean) => typeof Bit.Type) =>
  Bit.pipe(
    Schema.decodeTo(Schema.Boolean, {
      decode: SchemaGetter.transform((bit) => bit === 1 || bit === true),
      encode: SchemaGetter.transform(encode)
    })
  )

/** A boolean that is encoded as 0 or 1. Decoding also accepts true and false. */
export const Flag = fromBit((value) => (value ? 1 : 0))

/** A boolean that is encoded as true or false. Decoding also accepts 0 and 1. */
export const Switch = fromBit((value) => value)

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

/**
 * Limits generated objects to `maxProperties` keys, and changes no validation. Without a maximum, Effect generates up to
 * 10 keys, whose values may be objects themselves.
 */
export const generateFew = (maxProperties: number) =>
  Schema.makeFilter<object>(() => true, { expected: "an object", arbitraryConstraint: { maxProperties } })
