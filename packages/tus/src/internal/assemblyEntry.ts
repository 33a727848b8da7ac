/**
 * A journal entry of an Assembly whose files are uploaded by `AssemblyUpload`.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Schema from "effect/Schema"

const common = {
  assemblyId: Assembly.AssemblyId,
  /** Whether the creating request contains the files. */
  isForm: Schema.optionalKey(Schema.Boolean),
  /** The ids of the Assemblies whose forms broke before. */
  earlier: Schema.optionalKey(Schema.Array(Assembly.AssemblyId)),
  /** The ids of the uploads of a job, if the Assembly has the uploads of other jobs too. */
  uploads: Schema.optionalKey(Schema.Array(Schema.String)),
  /** The time of the write, in milliseconds since 1970. */
  writtenAt: Schema.Finite
}

const Stored = Schema.TaggedUnion({ Creating: common, Created: common, Completed: common })

/**
 * - `Creating`: the creation of the Assembly may have been sent. Only the service knows whether the Assembly exists.
 * - `Created`: the Assembly exists.
 * - `Completed`: a run has seen that the Assembly has completed.
 */
export type AssemblyEntry = typeof Stored.Type

const codec = Schema.fromJsonString(Schema.toCodecJson(Stored))
export const encode = Schema.encodeEffect(codec)
export const decode = Schema.decodeEffect(codec)
