import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { StorageFailed } from "../../EmulatorError.ts"
import type * as AssemblyStore from "../assembly/AssemblyStore.ts"
import type * as FileStore from "../files/FileStore.ts"

/** A file on its way through the Steps, the blob that holds its bytes and what was computed from them. */
export interface StepFile {
  readonly blob: string
  readonly digest: FileStore.Digest
  readonly file: Assembly.File
}

/** What a robot works on. */
export interface Work {
  readonly assembly: AssemblyStore.Row
  /** The name of the Step. */
  readonly name: string
  readonly step: Assembly.Step
  readonly files: ReadonlyArray<StepFile>
}

/** Why a Step failed; the Assembly ends with this error. */
export class StepFailed extends Data.TaggedError("StepFailed")<{
  readonly error: string
  readonly message: string
}> {}

/** spec.md, "Limits": an oversized file cancels the whole upload, and the Assembly errors. */
export const maxSizeExceeded = new StepFailed({
  error: "MAX_SIZE_EXCEEDED",
  message: "A file is larger than auth.max_size allows."
})

/** The code is the service's own for `auth.max_number_of_files`. */
export const tooManyFiles = new StepFailed({
  error: "MAX_NUMBER_OF_FILES_EXCEEDED",
  message: "The Assembly has more files than the emulator allows."
})

/**
 * What a Step does: files in, files out. A new robot is one of these, named in `Robots`. The request that brings the
 * last byte waits for an Assembly, unless one of its robots takes its time (`isSlow`).
 */
export interface Robot {
  readonly isSlow: boolean
  readonly run: (work: Work) => Effect.Effect<ReadonlyArray<StepFile>, StepFailed | StorageFailed>
}
