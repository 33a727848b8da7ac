/**
 * Uploads each file of a folder every night at two o'clock, in an Assembly of its own. A file that an earlier night has
 * completed is skipped, and a file that a stopped process left incomplete continues. The journal must outlive the
 * process.
 */
import { UploadSource } from "@assembly-effect/tus"
import * as AssemblyBatch from "@assembly-effect/tus/AssemblyBatch"
import { Console, Cron, Effect, FileSystem, Schedule, Stream } from "effect"

/** Uploads the files of a folder, and returns the number of files by outcome. */
export const uploadFolder = (folder: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const jobs = Stream.fromIterableEffect(fs.readDirectory(folder)).pipe(
      Stream.map((filename) => ({
        filename,
        params: { steps: { ":original": { robot: "/upload/handle" } } },
        files: [{ source: UploadSource.fromPath(`${folder}/${filename}`), filename }]
      }))
    )
    const counts = { Completed: 0, Skipped: 0, Failed: 0 }
    yield* Stream.runForEach(AssemblyBatch.runResumable(jobs), (outcome) => {
      counts[outcome._tag]++
      return outcome._tag === "Failed"
        ? Console.error(`${outcome.job.filename}: ${outcome.error.message}`)
        : Effect.void
    })
    return counts
  })

const everyNight = Schedule.cron(Cron.parseUnsafe("0 2 * * *", "UTC"))

export const nightly = (folder: string) =>
  uploadFolder(folder).pipe(
    Effect.tap((counts) => Console.log(JSON.stringify(counts))),
    // A night that fails, for example because the folder is missing, does not end the program.
    Effect.catch((error) => Console.error(error.message)),
    Effect.schedule(everyNight)
  )
