/**
 * Uploads each file of a folder every night at two o'clock, in an Assembly of its own. A file that an earlier night has
 * completed is skipped, and a file that a stopped process left incomplete continues. The folder of the journal must
 * stay after the process has ended.
 */
import { AssemblyUpload, UploadJournal, UploadSource } from "@assembly-effect/tus"
import { Cause, Console, Cron, Effect, FileSystem, Layer, Schedule, Stream } from "effect"

/**
 * The journal of all nights, in a separate folder. By default a completed file is remembered for 60 days; a file that
 * is in the folder for longer would then be uploaded again. This journal never forgets a completed file, and needs one
 * small file for each.
 */
export const journal = (folder: string) =>
  AssemblyUpload.layerJournaled.pipe(
    Layer.provide(UploadJournal.layerFileSystem(folder, { completedExpiry: "Infinity" }))
  )

/** Uploads the files of a folder, and returns the number of files by outcome. */
export const uploadFolder = (folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const jobs = Stream.fromIterableEffect(fs.readDirectory(folder)).pipe(
      // A subfolder is not a file, so it would fail every night.
      Stream.filterEffect((name) => Effect.map(fs.stat(`${folder}/${name}`), ({ type }) => type === "File")),
      Stream.map((filename) => ({
        data: filename,
        params: { steps: { ":original": { robot: "/upload/handle" } } },
        files: [{ source: UploadSource.fromPath(`${folder}/${filename}`), filename }]
      }))
    )
    const counts = { Completed: 0, Skipped: 0, Failed: 0, Died: 0 }
    yield* Stream.runForEach(AssemblyUpload.runAll(jobs), (outcome) => {
      counts[outcome._tag]++
      if (outcome._tag === "Died") return Console.error(`${outcome.job.data}: ${Cause.pretty(outcome.cause)}`)
      if (outcome._tag !== "Failed") return Effect.void
      // With a wrong key or secret, every other file would fail too. The night ends here.
      if (outcome.error._tag === "AuthenticationFailed") return Effect.fail(outcome.error)
      return Console.error(`${outcome.job.data}: ${outcome.error.message}`)
    })
    return counts
  })

const everyNight = Schedule.cron(Cron.parseUnsafe("0 2 * * *", "UTC"))

export const nightly = (folder: string, journalFolder: string) =>
  uploadFolder(folder).pipe(
    Effect.tap((counts) => Console.log(JSON.stringify(counts))),
    // A night that fails, for example because the folder is missing, does not end the program.
    Effect.catch((error) => Console.error(error.message)),
    Effect.schedule(everyNight),
    Effect.provide(journal(journalFolder))
  )
