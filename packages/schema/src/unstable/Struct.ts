/**
 * The structs of requests and responses: with names for their decoded types, with other key names on the wire, and with
 * unknown keys that are kept or refused.
 */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Struct from "effect/Struct"
import { lenient } from "./Field.ts"

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
export const named =
  <Self, Wire = never>() =>
  <S extends Schema.Codec<unknown, unknown>>(schema: S) =>
    // The cast changes only the names of the types.
    schema as unknown as Named<Self, S, [Wire] extends [never] ? S["Encoded"] : Wire> & Rest<S>

type Names<Fields> = { readonly [K in keyof Fields]?: string }

/** A name in snake case: `templateId` as `template_id`. */
type Snake<Name> = Name extends `${infer Head}${infer Tail}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${Snake<Tail>}`
  : Name

type WireName<K, Keys> = K extends keyof Keys ? Keys[K] : Snake<K>

type Renamed<Fields extends Schema.Struct.Fields, Keys extends Names<Fields>> = {
  readonly [K in keyof Fields as WireName<K, Keys> extends infer Name extends string ? Name : never]: Fields[K]
}

type Codec<Fields extends Schema.Struct.Fields, Wire extends Schema.Struct.Fields> = Named<
  Schema.Struct.Type<Fields>,
  Schema.Struct<Fields>,
  Schema.Struct.Encoded<Wire>
>

/** Matches every key except `names`. */
const otherThan = (names: ReadonlyArray<string>) =>
  Schema.String.check(
    Schema.makeFilter((key) => !names.includes(key), {
      expected: "another key",
      toJsonSchema: () => ({ pattern: `^(?!(?:${names.join("|")})$)` })
    })
  )

/**
 * A record that refuses every key except `names`. A struct that has this record for its other keys refuses unknown
 * keys when decoding and encoding.
 *
 * Effect handles unknown keys with a parse option, which every caller would have to set. spec.md requires "no other
 * keys are accepted" for some requests, so this schema contains the rule.
 */
const noOther = (names: ReadonlyArray<string>) =>
  Schema.Record(
    otherThan(names),
    Schema.Never.annotate({ message: `Unknown key, expected one of ${names.join(", ")}` })
  )

// The TypeScript type of an unknown field is `unknown`, although its value is JSON. TypeScript intersects the type of
// each known field with the type of the unknown fields, and an intersection with `unknown` changes nothing.
const Kept = Schema.make<Schema.Codec<unknown>>(Schema.Json.ast)

/**
 * A struct that keeps unknown fields, whose values are JSON. The record of unknown fields excludes the known fields, so
 * a known field may decode to a value that is not JSON, such as a date.
 *
 * @since 0.1.0
 * @category constructors
 */
export const kept = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(otherThan(Object.keys(fields)), Kept)])

/**
 * A struct that keeps unknown fields, whose values are JSON, as are those of the known fields.
 *
 * @since 0.1.0
 * @category constructors
 */
export const extensible = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(Schema.String, Schema.Json)])

/**
 * A successful response: `ok` says which one, `message` is for people, and the other fields follow.
 *
 * @since 0.1.0
 * @category constructors
 */
export const success = <const Ok extends string, const Fields extends Schema.Struct.Fields>(ok: Ok, fields: Fields) =>
  Schema.Struct({ ok: Schema.Literal(ok), message: lenient(Schema.String), ...fields })

const closing = (fields: Schema.Struct.Fields): SchemaAST.AST =>
  Schema.StructWithRest(Schema.Struct(fields), [noOther(Object.keys(fields))]).ast

const rename = (
  fields: Schema.Struct.Fields,
  keys: Readonly<Record<string, string | undefined>>,
  toObjects: (fields: Schema.Struct.Fields) => SchemaAST.AST
): SchemaAST.AST => {
  const snake = (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const names = Object.keys(fields).map((key) => [key, keys[key] ?? snake(key)] as const)
  const toWire = Object.fromEntries(names)
  const fromWire = Object.fromEntries(names.map(([key, name]) => [name, key]))
  const from = toObjects(Struct.renameKeys(fields, toWire))
  const to = toObjects(Struct.map(fields, Schema.toType))
  return Schema.make<Schema.Codec<object>>(from).pipe(
    Schema.decodeTo(
      Schema.make<Schema.Codec<object>>(to),
      SchemaTransformation.transform({ decode: Struct.renameKeys(fromWire), encode: Struct.renameKeys(toWire) })
    )
  ).ast
}

/**
 * A struct whose keys are in snake case on the wire, or have the names in `keys`. `Schema.encodeKeys` renames a key before it transforms the value, so an issue
 * in the transformation, such as 30 February, has the decoded name. This struct decodes each field under its wire name,
 * so the issues of decoding name the keys that the sender wrote.
 *
 * @since 0.1.0
 * @category constructors
 */
export const renamed = <Fields extends Schema.Struct.Fields, const Keys extends Names<Fields> = {}>(
  fields: Fields,
  keys?: Keys
): Codec<Fields, Renamed<Fields, Keys>> => Schema.make(rename(fields, keys ?? {}, (all) => Schema.Struct(all).ast))

/**
 * A struct that refuses unknown keys, whose keys are in snake case on the wire.
 *
 * @since 0.1.0
 * @category constructors
 */
export const closed = <Fields extends Schema.Struct.Fields>(fields: Fields): Codec<Fields, Renamed<Fields, {}>> =>
  Schema.make(rename(fields, {}, closing))

/**
 * A struct that refuses unknown keys.
 *
 * @since 0.1.0
 * @category constructors
 */
export const strict = <Fields extends Schema.Struct.Fields>(fields: Fields): Codec<Fields, Fields> =>
  Schema.make(closing(fields))
