/**
 * Uploads each file of a folder every night at two o'clock, as durable jobs. Every runner may run this program: the
 * keys of a night are the same, so only the first start of a file stores a job.
 */
import { Durable, DurableJob } from "@assembly-effect/workflow"
import { Console, Cron, DateTime, Effect, FileSystem, Layer, Stream } from "effect"

/** The job of a file in one night. */
const jobOf = (folder: string, night: string, filename: string): DurableJob.Job => ({
  key: `${night}/${filename}`,
  params: { steps: { ":original": { robot: "/upload/handle" } } },
  files: [{ source: DurableJob.path(`${folder}/${filename}`), filename }]
})

/**
 * Queues the files of a folder, and returns how many are new. The runners upload them, up to 100 in one Assembly. A
 * file that was removed meanwhile does not keep the others.
 */
export const queueFolder = (folder: string, night: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const jobs = Stream.map(Stream.fromIterableEffect(fs.readDirectory(folder)), (filename) =>
      jobOf(folder, night, filename)
    )
    return yield* Durable.startAll(jobs, { packing: { repeatable: true } }).pipe(
      Stream.tap((outcome) =>
        outcome._tag === "Refused" ? Console.error(`${outcome.job.key}: ${outcome.error.message}`) : Effect.void
      ),
      Stream.filter(({ _tag }) => _tag === "Started"),
      Stream.runCount
    )
  })

const everyNight = Cron.parseUnsafe("0 2 * * *", "UTC")

/** A Layer for the program of each runner. It needs `DurableSqlite.layer` or `DurablePostgres.runner`. */
export const nightly = (folder: string, cron: Cron.Cron = everyNight) =>
  Effect.gen(function* () {
    const now = yield* DateTime.now
    const night = DateTime.makeUnsafe(Cron.next(cron, now))
    yield* Effect.sleep(DateTime.distance(now, night))
    const count = yield* queueFolder(folder, DateTime.formatIso(night))
    yield* Console.log(`${count} files are queued`)
  }).pipe(
    // A night that fails, for example because the folder is missing, does not end the schedule.
    Effect.catch((error) => Console.error(error.message)),
    Effect.forever,
    Effect.forkScoped,
    Layer.effectDiscard
  )
