/**
 * Names for decoded types, so that an editor shows `Assembly.Status` instead of all its fields.
 */
import type * as Schema from "effect/Schema"

/**
 * The schema `S` with `Self` as the name of its decoded type. `Self` extends the type `Structure`.
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
 * The base type in `interface Self extends Structure<typeof Self> {}`, which declares the name.
 *
 * @since 0.1.0
 * @category models
 */
export type Structure<N extends { readonly Structure: unknown }> = N["Structure"]

/**
 * Gives the decoded type of a schema the name `Self`. The schema itself is unchanged.
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
    // The cast changes only the name of the type.
    schema as unknown as Named<Self, S> & Omit<S, keyof Schema.Top>
