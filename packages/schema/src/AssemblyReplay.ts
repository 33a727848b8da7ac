/**
 * The replay of an Assembly: a new Assembly runs the same or other Steps on the same files.
 *
 * These schemas are beyond the specification: spec.md names the operation, but defines neither its params nor its
 * response.
 */
import * as Schema from "effect/Schema"
import { AssemblyId } from "./Assembly.ts"
import { Flag, generateFew, lenient, NonEmptyString } from "./unstable/Field.ts"
import { extensible, named, renamed, type Structure } from "./unstable/Struct.ts"

const fields = Schema.Record(Schema.String, Schema.Json).check(generateFew(3))

/**
 * The params of a replay. Without params, the Steps of the original Assembly run again.
 *
 * - `steps`: changes to the Steps that the replay runs. A changed Step may omit unchanged options, even its robot.
 * - `reparseTemplate`: whether the replay runs the current Steps of the Template of the original Assembly.
 * - `templateId`: a Template whose Steps the replay runs instead of the original Steps.
 *
 * Beyond the specification.
 *
 * @example `{ reparseTemplate: true }`
 *
 * @since 0.1.0
 * @category schemas
 */
export const ReplayRequest = renamed({
  steps: Schema.optionalKey(Schema.Record(Schema.String, fields).check(generateFew(3))),
  fields: Schema.optionalKey(fields),
  notifyUrl: Schema.optionalKey(NonEmptyString),
  reparseTemplate: Schema.optionalKey(Flag),
  templateId: Schema.optionalKey(NonEmptyString)
}).pipe(named<ReplayRequest>())
/**
 * @since 0.1.0
 * @category models
 */
export interface ReplayRequest extends Structure<typeof ReplayRequest> {}

/**
 * The new Assembly of a replay. `assembly_id` is the id of the new Assembly, not of the original Assembly. Unknown
 * fields are kept.
 *
 * Beyond the specification.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Replayed = extensible({
  ok: Schema.Literal("ASSEMBLY_REPLAYING"),
  message: lenient(Schema.String),
  success: lenient(Schema.Boolean),
  assembly_id: AssemblyId,
  assembly_url: lenient(Schema.String),
  assembly_ssl_url: lenient(Schema.String),
  notify_url: lenient(Schema.String)
}).pipe(named<Replayed, Schema.JsonObject>())
/**
 * @since 0.1.0
 * @category models
 */
export interface Replayed extends Structure<typeof Replayed> {}
