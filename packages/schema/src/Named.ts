/**
 * Decoded types with a name: an editor shows `Assembly.Status` instead of a page of fields.
 */
import type * as Schema from "effect/Schema"

/**
 * The schema `S` whose decoded type is called `Self`; `Structure` is the type that `Self` extends.
 *
 * @since 0.1.0
 * @category models
 */
export interface Named<Self, S extends Schema.Top> extends Schema.Codec<Self, S["Encoded"], never, never> {
  readonly Structure: S["Type"]
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
 * Gives the decoded type of a schema the name `Self`. The schema itself stays as it is.
 *
 * @example
 * export const Point = named<Point>()(Schema.Struct({ x: Schema.Finite, y: Schema.Finite }))
 * export interface Point extends Structure<typeof Point> {}
 *
 * @since 0.1.0
 * @category utilities
 */
export const named =
  <Self>() =>
  <S extends Schema.Codec<unknown, unknown>>(schema: S): Named<Self, S> & Omit<S, keyof Schema.Top> =>
    // Only the name of the type is new, which no value tells.
    schema as unknown as Named<Self, S> & Omit<S, keyof Schema.Top>
