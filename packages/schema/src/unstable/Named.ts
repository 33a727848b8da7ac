/**
 * Names for decoded and encoded types, so that an editor shows `Assembly.Status` instead of all its fields.
 */
import type * as Schema from "effect/Schema"

/**
 * The schema `S` with `Self` as the name of its decoded type and `Wire` as the name of its encoded type. The property
 * types `Structure` and `EncodedStructure` are the decoded and the encoded type without these names.
 *
 * @since 0.1.0
 * @category models
 */
export interface Named<Self, S extends Schema.Top, Wire = S["Encoded"]> extends Schema.Codec<Self, Wire, never, never> {
  readonly Structure: S["Type"]
  readonly EncodedStructure: S["Encoded"]
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

/**
 * The base type in `interface Encoded extends EncodedStructure<typeof Self> {}` in the namespace `Self`, which declares the name of the
 * encoded type.
 *
 * @since 0.1.0
 * @category models
 */
export type EncodedStructure<N extends { readonly EncodedStructure: unknown }> = N["EncodedStructure"]

type Rest<S> = Omit<S, keyof Schema.Top>

/**
 * Gives the decoded type of a schema the name `Self`, and its encoded type the name `Wire`. The schema itself is
 * unchanged.
 *
 * **Gotchas**
 *
 * Give both names to a struct that has optional keys and keeps unknown keys. Where a type has no name, the compiler may
 * write its fields into the declaration files. In a declaration file, an index signature next to optional keys compiles
 * only with `exactOptionalPropertyTypes`.
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
