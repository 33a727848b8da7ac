/**
 * Decoded types with a name: an editor shows `Assembly.Status` instead of a page of fields.
 */
import type * as Schema from "effect/Schema"

/**
 * The schema `S` whose decoded type is called `Self` and whose encoded type is called `Wire`; they extend `Structure` and
 * `EncodedStructure`.
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
 * What `interface Self extends Structure<typeof Self> {}` declares the name for.
 *
 * @since 0.1.0
 * @category models
 */
export type Structure<N extends { readonly Structure: unknown }> = N["Structure"]

/**
 * What `interface SelfEncoded extends EncodedStructure<typeof Self> {}` declares the name for.
 *
 * @since 0.1.0
 * @category models
 */
export type EncodedStructure<N extends { readonly EncodedStructure: unknown }> = N["EncodedStructure"]

type Rest<S> = Omit<S, keyof Schema.Top>

/**
 * Gives the decoded type of a schema the name `Self`, and its encoded type the name `Wire`. The schema itself stays as
 * it is.
 *
 * **Gotchas**
 *
 * An open record with optional keys needs both names. Without a name the compiler writes the type into declarations as
 * its fields, and an index signature beside optional keys is valid under `exactOptionalPropertyTypes` only.
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
    // Only the names of the types are new, which no value tells.
    schema as unknown as Named<Self, S, Wire> & Rest<S>
