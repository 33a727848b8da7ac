/**
 * Optional parts of a resource that others write. What has another form than the documented one is left out instead of
 * making the whole unreadable: who asks for the state of an Assembly should not be refused for a strange `region`.
 *
 * "Left out" keeps the types honest: a field that is there has its type. What decides something (an id, `ok`, `error`)
 * stays strict, since leaving it out would tell something else.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"

/** A key that is absent where its value does not decode. */
export const orAbsent = <S extends Schema.Constraint>(schema: S) =>
  Schema.optionalKey(Schema.catchDecoding<S>(() => Effect.succeedNone)(schema))

/** The same, where null may stand as well. */
export const lenient = <S extends Schema.Constraint>(schema: S) => orAbsent(Schema.NullOr(schema))

/** The same schema behind a sieve: `sift` takes out what it could not decode. */
const sifted = <S extends Schema.Codec<unknown>>(schema: S, sift: (input: unknown) => unknown) =>
  Schema.make<Schema.Codec<S["Type"], S["Encoded"]>>(
    Schema.Unknown.pipe(
      Schema.decodeTo(schema, {
        decode: SchemaGetter.transform<S["Encoded"], unknown>(sift),
        encode: SchemaGetter.passthrough<unknown>()
      })
    ).ast
  )

/** An array of objects, without the elements that are none. */
export const objects = <S extends Schema.Codec<object>>(item: S) =>
  sifted(Schema.Array(item), (input) => (Array.isArray(input) ? input.filter(Predicate.isObject) : input))

/** An object of arrays of objects, without the keys whose value is no array. */
export const objectsByKey = <S extends Schema.Codec<object>>(item: S) =>
  sifted(Schema.Record(Schema.String, objects(item)), (input) =>
    Predicate.isObject(input)
      ? Object.fromEntries(Object.entries(input).filter(([, value]) => Array.isArray(value)))
      : input
  )
