import * as Input from "@assembly-effect/api/unstable/Input"
import * as Operations from "@assembly-effect/api/Assemblies"
import * as Operation from "@assembly-effect/api/Operation"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Schema from "effect/Schema"

/** The params of a replay: the differences from the original Assembly. Beyond the specification. */
const Params = Schema.Struct({
  steps: Schema.optionalKey(Schema.Record(Schema.String, Assembly.Step)),
  fields: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
  notify_url: Schema.optionalKey(Schema.NonEmptyString),
  template_id: Schema.optionalKey(Schema.NonEmptyString),
  reparse_template: Schema.optionalKey(Schema.Literals([0, 1]))
})
export type Params = typeof Params.Type

const Replayed = Schema.Struct({
  ok: Schema.Literal("ASSEMBLY_REPLAYING"),
  message: Schema.String,
  success: Schema.Boolean,
  assembly_id: Schema.String,
  assembly_url: Schema.String,
  assembly_ssl_url: Schema.String,
  notify_url: Schema.NullOr(Schema.String)
})
export type Replayed = typeof Replayed.Type

/** `POST /assemblies/:assemblyId/replay` */
export const Replay = Operation.make({
  ...Operations.Create,
  name: "Assemblies.replay",
  path: "/assemblies/:assemblyId/replay",
  params: Params,
  fields: Input.nothing,
  answers: "result",
  success: Replayed,
  retry: []
})
