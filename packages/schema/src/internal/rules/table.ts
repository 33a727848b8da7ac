import type * as Schema from "effect/Schema"
import * as Part from "./parts.ts"

type Codec = Schema.ConstraintCodec<unknown, unknown>

/** Schemas with their rules. */
export type Table = ReadonlyArray<readonly [schema: Codec, rules: Part.Part]>

/** An object with the rules of its parts by key, and the code of the error with which the service refuses it. */
export const request = (
  schema: Codec,
  of: Readonly<Record<string, Part.Part>>,
  code?: string
): readonly [Codec, Part.Part] => [schema, code === undefined ? Part.struct(of) : Part.coded(code, Part.struct(of))]
