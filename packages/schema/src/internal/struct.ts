/**
 * Structs with other key names on the wire, and structs that keep or refuse unknown keys.
 */
import * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"
import * as SchemaTransformation from "effect/SchemaTransformation"
import * as Struct from "effect/Struct"

type Names<Fields> = { readonly [K in keyof Fields]?: string }

type Renamed<Fields extends Schema.Struct.Fields, Keys extends Names<Fields>> = {
  readonly [K in keyof Fields as K extends keyof Keys ? (Keys[K] extends string ? Keys[K] : K) : K]: Fields[K]
}

type Codec<Fields extends Schema.Struct.Fields, Wire extends Schema.Struct.Fields> = Schema.Bottom<
  Schema.Struct.Type<Fields>,
  Schema.Struct.Encoded<Wire>,
  Schema.Struct.DecodingServices<Fields>,
  Schema.Struct.EncodingServices<Fields>,
  SchemaAST.Objects,
  Schema.Codec<
    Schema.Struct.Type<Fields>,
    Schema.Struct.Encoded<Wire>,
    Schema.Struct.DecodingServices<Fields>,
    Schema.Struct.EncodingServices<Fields>
  >,
  Schema.Struct.MakeIn<Fields>
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
 */
export const kept = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(otherThan(Object.keys(fields)), Kept)])

const open = (fields: Schema.Struct.Fields): SchemaAST.Objects => Schema.Struct(fields).ast

const close = (fields: Schema.Struct.Fields): SchemaAST.Objects =>
  Schema.StructWithRest(Schema.Struct(fields), [noOther(Object.keys(fields))]).ast

const rename = (
  fields: Schema.Struct.Fields,
  keys: Readonly<Record<string, string | undefined>>,
  toObjects: (fields: Schema.Struct.Fields) => SchemaAST.Objects
): SchemaAST.Objects => {
  const toWire: Record<string, string> = {}
  const fromWire: Record<string, string> = {}
  for (const [key, name] of Object.entries(keys)) {
    if (name === undefined) continue
    toWire[key] = name
    fromWire[name] = key
  }
  const from = toObjects(Struct.renameKeys(fields, toWire))
  const to = toObjects(Struct.map(fields, Schema.toType))
  return Schema.make<Schema.Codec<object>>(from).pipe(
    Schema.decodeTo(
      Schema.make<Schema.Bottom<object, object, never, never, SchemaAST.Objects, Schema.Top>>(to),
      SchemaTransformation.transform({ decode: Struct.renameKeys(fromWire), encode: Struct.renameKeys(toWire) })
    )
  ).ast
}

/**
 * A struct with wire names for some keys. `Schema.encodeKeys` renames a key before it transforms the value, so an issue
 * in the transformation, such as 30 February, has the decoded name. This struct decodes each field under its wire name,
 * so the issues of decoding name the keys that the sender wrote.
 */
export const renamed = <Fields extends Schema.Struct.Fields, const Keys extends Names<Fields>>(
  fields: Fields,
  keys: Keys
): Codec<Fields, Renamed<Fields, Keys>> => Schema.make(rename(fields, keys, open))

/**
 * A struct that refuses unknown keys, with wire names for some keys.
 */
export const closed = <Fields extends Schema.Struct.Fields, const Keys extends Names<Fields>>(
  fields: Fields,
  keys: Keys
): Codec<Fields, Renamed<Fields, Keys>> => Schema.make(rename(fields, keys, close))

/**
 * A struct that refuses unknown keys.
 */
export const strict = <Fields extends Schema.Struct.Fields>(fields: Fields): Codec<Fields, Fields> =>
  Schema.make(close(fields))
