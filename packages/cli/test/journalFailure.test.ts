import * as Advice from "../src/internal/advice.ts"
import { AssemblyUpload, UploadJournal } from "@assembly-effect/tus"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, expect } from "@effect/vitest"
import { layerTest, test } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer, PlatformError } from "effect"
import * as Failure from "../src/internal/failure.ts"
import * as Journal from "../src/internal/journal.ts"
import type * as UploadJob from "../src/internal/uploadJob.ts"

const shown = (error: UploadJob.JobError, isKept: boolean) => {
  const problem = Journal.failureOf(error, "state/uploads", isKept)
  assert(problem !== undefined)
  return [Advice.line(problem), Advice.next(problem), Failure.codeOf(problem)]
}

/** A disk on which no file can be opened for writing. */
const failing = (code: string) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) =>
      FileSystem.FileSystem.of({
        ...fs,
        open: () =>
          Effect.fail(
            PlatformError.systemError({
              _tag: "Unknown",
              module: "FileSystem",
              method: "open",
              cause: Object.assign(new Error("write"), { code })
            })
          )
      })
    )
  )

/** The error of a journal on that disk. */
const failure = Effect.fnUntraced(function* (code: string) {
  const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const journal = UploadJournal.layerFileSystem(folder).pipe(Layer.provide(failing(code)))
  const error = yield* UploadJournal.UploadJournal.use(({ lease }) => Effect.scoped(lease("a"))).pipe(
    Effect.provide(journal),
    Effect.flip
  )
  assert(error._tag === "JournalFailed")
  return error
})

layerTest(NodeServices.layer)("a journal that cannot be written", (it) => {
  it.effect("names the folder, what is full, and what is kept", function* () {
    const full = yield* failure("ENOSPC")
    expect(shown(full, true)).toEqual([
      "state/uploads: the disk is full; nothing more is sent, because this folder must record the upload",
      "Free some space. The upload is kept. Run the same command again to continue it.",
      1
    ])
    const lost = new UploadJournal.LeaseLost({
      key: "a",
      description: `the lease expired after its renewal failed: ${full.description}`
    })
    const file = new AssemblyUpload.FilesFailed({
      assemblyId: "a".repeat(32),
      assembly: "kept",
      files: [{ filename: "a.bin", outcome: "Failed", error: full }]
    })
    for (const error of [lost, file]) expect(shown(error, true)).toEqual(shown(full, true))
    expect(shown(full, false)[1]).toBe("Free some space, or name another folder with --journal.")
    expect(shown(yield* failure("EROFS"), false)).toEqual([
      "state/uploads: the file system is read-only; nothing more is sent, because this folder must record the upload",
      "Make the folder writable, or name another folder with --journal.",
      1
    ])
  })

  test("is not blamed for the loss of a lease to another process", () => {
    const lost = new UploadJournal.LeaseLost({ key: "a", description: "another holder took the lease" })
    expect(Journal.failureOf(lost, "state/uploads", true)).toBeUndefined()
  })
})
