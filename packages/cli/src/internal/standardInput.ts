/** Checks the standard input before anything is created at the service. */
import * as Effect from "effect/Effect"
import { fstat } from "node:fs"
import * as LocalFile from "../LocalFile.ts"
import * as SystemProblem from "./systemProblem.ts"

/** The file descriptor of the standard input. */
const descriptor = 0

const refused = (problem: string) => new LocalFile.CannotRead({ path: "the standard input (-)", problem })

/**
 * Fails if the standard input is a folder or a block device. Node reads both as an empty input, without an error.
 */
export const check: Effect.Effect<void, LocalFile.CannotRead> = Effect.callback<void, LocalFile.CannotRead>((resume) =>
  fstat(descriptor, (error, stats) => {
    if (error !== null) {
      resume(Effect.fail(refused(`cannot be read: ${SystemProblem.ofCode(error.code ?? error.message)}`)))
    } else if (stats.isDirectory()) resume(Effect.fail(refused("is a folder, not a file or a pipe")))
    else if (stats.isBlockDevice()) resume(Effect.fail(refused("is a block device; pipe its content, as cat does")))
    else resume(Effect.void)
  })
)
