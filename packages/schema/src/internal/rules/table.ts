import type * as Schema from "effect/Schema"
import type { Part } from "./parts.ts"

/**
 * Schemas with their rules. A schema of several kinds of values has an entry for each kind, with the schema of its
 * decoded values.
 */
export type Table = ReadonlyArray<
  readonly [schema: Schema.ConstraintCodec<unknown, unknown>, rules: Part, kind?: Schema.Constraint]
>
