import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { StorageFailed } from "../../EmulatorError.ts"
import type * as AssemblyStore from "../assembly/assemblyStore.ts"
import type * as FileStore from "../files/fileStore.ts"

/** An input or result file of a Step. `blob` is the id of the blob that contains the bytes. */
export interface StepFile {
  readonly blob: string
  readonly digest: FileStore.Digest
  readonly file: Assembly.File
}

/** The input of a robot. */
export interface Work {
  readonly assembly: AssemblyStore.Row
  /** The name of the Step. */
  readonly name: string
  readonly step: Assembly.Step
  readonly files: ReadonlyArray<StepFile>
}

/** The failure of a Step. The Assembly ends with this error. */
export class StepFailed extends Data.TaggedError("StepFailed")<{ readonly error: string; readonly message: string }> {}

/**
 * If a file is larger than `auth.max_size` (spec.md, "Limits") or the limit `fileBytes`, the Assembly fails with this
 * error.
 */
export const maxSizeExceeded = new StepFailed({
  error: "MAX_SIZE_EXCEEDED",
  message: "A file is larger than auth.max_size or the limit fileBytes."
})

/** The service uses this error code for `auth.max_number_of_files`. */
export const tooManyFiles = new StepFailed({
  error: "MAX_NUMBER_OF_FILES_EXCEEDED",
  message: "The Assembly has more files than the emulator allows."
})

/**
 * A robot makes files from files. To add a robot, implement this interface and register the robot in `Robots`. The
 * request that starts the Steps of an Assembly waits until the Assembly has ended, unless the disk fails or `isSlow` is
 * true for the robot of one of these Steps.
 */
export interface Robot {
  readonly isSlow: boolean
  readonly run: (work: Work) => Effect.Effect<ReadonlyArray<StepFile>, StepFailed | StorageFailed>
}
