/**
 * Errors at the start of an emulator, and errors of its disk.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import * as Schema from "effect/Schema"

/**
 * Another emulator uses the same data folder. `path` is the path of the database.
 *
 * @since 0.1.0
 * @category errors
 */
export class DataInUse extends Expected.TaggedError<DataInUse>()(
  "DataInUse",
  { path: Schema.String },
  (error) => `another emulator uses ${error.path}`
) {}

/**
 * The options give a Workspace an Auth Key that belongs to another Workspace, in the options or in the stored data. A
 * key can belong to only one Workspace.
 *
 * @since 0.1.0
 * @category errors
 */
export class KeyInTwoWorkspaces extends Expected.TaggedError<KeyInTwoWorkspaces>()(
  "KeyInTwoWorkspaces",
  {
    key: Schema.String,
    /** The slugs of both Workspaces. The first slug is that of the Workspace to which the key belongs. */
    workspaces: Schema.Tuple([Schema.String, Schema.String])
  },
  (error) => {
    const [one, other] = error.workspaces
    return `the Auth Key ${error.key} belongs to the Workspace ${one}, not to ${other}`
  }
) {}

/** The message for each reason. */
const reasons = {
  Full: "there is no space left on the disk",
  ReadOnly: "the file system is read-only",
  Denied: "the process has no permission to write",
  Damaged: "the file is damaged, or another program has made it",
  Broken: "the disk failed"
} as const

/**
 * The emulator cannot read or write a file, or its database is damaged. Acknowledged data stays, and the emulator
 * continues when the disk works again. A request that needs the disk is answered with status 507, a change of the DAM
 * with `DAM_MUTATION_FAILED`, and a request for the statistics of the job slots with `PRIORITY_JOB_SLOT_STATS_ERROR`.
 * If the signature of a request cannot be stored, the status is 507 for every operation.
 *
 * - `path`: the file or folder that cannot be written or read.
 * - `code`: the error code of the system or of SQLite, such as `ENOSPC`. The code of a database that another program
 *   has made is `NOT_OF_THE_EMULATOR`.
 *
 * @since 0.1.0
 * @category errors
 */
export class StorageFailed extends Expected.TaggedError<StorageFailed>()("StorageFailed", {
  path: Schema.String,
  reason: Schema.Literals(["Full", "ReadOnly", "Denied", "Damaged", "Broken"]),
  code: Schema.String
}) {
  /** The message without the path. */
  get description() {
    return `${reasons[this.reason]} (${this.code})`
  }
  override get message() {
    return `cannot use ${this.path}: ${this.description}`
  }
}

/**
 * The errors at the start of an emulator, except two: a port that is not available is a `ServeError`, and a folder for
 * files that cannot be created is a `PlatformError`. `InvalidRequest` names each option that breaks a rule.
 *
 * @since 0.1.0
 * @category errors
 */
export type EmulatorError = DataInUse | InvalidRequest | KeyInTwoWorkspaces | StorageFailed
