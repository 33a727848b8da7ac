/**
 * Optional fields of the resources in responses. A field whose value has the wrong type is left out, so that the other
 * fields stay readable. For example, a malformed `region` must not hide the state of an Assembly.
 *
 * Fields without which the resource would have a different meaning, such as `assembly_id`, `ok` and `error` of a
 * Status, do not use this module: a value of the wrong type in such a field is an error.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** A key that is absent if its value does not decode. */
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
