/** Checks the standard input before anything is created at the service. */
import * as Effect from "effect/Effect"
import { fstat, stat, type Stats } from "node:fs"
import { devNull } from "node:os"
import * as LocalFile from "../LocalFile.ts"
import * as SystemProblem from "./systemProblem.ts"

/** The file descriptor of the standard input. */
const descriptor = 0

const refused = (problem: string) => new LocalFile.CannotRead({ path: "the standard input (-)", description: problem })

type Read = (callback: (error: NodeJS.ErrnoException | null, stats: Stats) => void) => void

const read = (from: Read): Effect.Effect<Stats, LocalFile.CannotRead> =>
  Effect.callback((resume) =>
    from((error, stats) =>
      resume(
        error === null
          ? Effect.succeed(stats)
          : Effect.fail(refused(`cannot be read: ${SystemProblem.ofCode(error.code ?? error.message)}`))
      )
    )
  )

/**
 * Fails if the standard input is closed, or is a folder, a block device or the null device. In all these cases, Node
 * reads an empty input without an error. Node opens the null device if the standard input is closed.
 */
export const check: Effect.Effect<void, LocalFile.CannotRead> = Effect.gen(function* () {
  const input = yield* read((callback) => fstat(descriptor, callback))
  if (input.isDirectory()) return yield* refused("is a folder, not a file or a pipe")
  if (input.isBlockDevice()) return yield* refused("is a block device; pipe its content, as cat does")
  if (!input.isCharacterDevice()) return
  const nothing = yield* Effect.option(read((callback) => stat(devNull, callback)))
  if (nothing._tag === "Some" && nothing.value.rdev === input.rdev) {
    return yield* refused(`is closed, or is ${devNull}; pipe the content into the command`)
  }
})
