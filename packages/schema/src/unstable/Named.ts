/**
 * Names for decoded types, so that an editor shows `Assembly.Status` instead of all its fields.
 */
import type * as Schema from "effect/Schema"

/**
 * The schema `S` with `Self` as the name of its decoded type and `Wire` as its encoded type. The property type
 * `Structure` is the decoded type without this name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Named<Self, S extends Schema.Top, Wire = S["Encoded"]> extends Schema.Codec<Self, Wire, never, never> {
  readonly Structure: S["Type"]
  readonly "~type.make.in": S["~type.make.in"]
  readonly "~type.make": S["~type.make"]
}

/**
 * The base type in `interface Self extends Structure<typeof Self> {}`, which declares the name of the decoded type.
 *
 * @since 0.1.0
 * @category models
 */
export type Structure<N extends { readonly Structure: unknown }> = N["Structure"]

type Rest<S> = Omit<S, keyof Schema.Top>

/**
 * Gives the decoded type of a schema the name `Self`. The schema itself is unchanged.
 *
 * **Gotchas**
 *
 * Give a struct that has optional keys and keeps unknown keys the encoded type `Schema.JsonObject`. The compiler would
 * write its fields into the declaration files, where an index signature next to optional keys compiles only with
 * `exactOptionalPropertyTypes`.
 *
 * @example
 * export const Point = named<Point>()(Schema.Struct({ x: Schema.Finite, y: Schema.Finite }))
 * export interface Point extends Structure<typeof Point> {}
 *
 * @since 0.1.0
 * @category utilities
 */
export const named: {
  <Self>(): <S extends Schema.Codec<unknown, unknown>>(schema: S) => Named<Self, S> & Rest<S>
  <Self, Wire>(): <S extends Schema.Codec<unknown, unknown>>(schema: S) => Named<Self, S, Wire> & Rest<S>
} =
  <Self, Wire>() =>
  <S extends Schema.Codec<unknown, unknown>>(schema: S): Named<Self, S, Wire> & Rest<S> =>
    // The cast changes only the names of the types.
    schema as unknown as Named<Self, S, Wire> & Rest<S>
