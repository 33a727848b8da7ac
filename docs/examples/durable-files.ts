/**
 * Uploads the files that its command line names, as durable jobs of one process, and prints the progress until all have
 * ended. If the program is killed, start it again with the same files: it continues their jobs.
 *
 * node durable-files.ts 1.mp4 2.mp4
 *
 * `ASSEMBLY_BASE_URL`, `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET` configure the client.
 */
import { AssemblyNode } from "@assembly-effect/node"
import { Durable, DurableJob, DurableSqlite } from "@assembly-effect/workflow"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Schedule, Stream } from "effect"
import { basename, resolve } from "node:path"

/** The job of a file. Its absolute path is its key. */
const jobOf = (path: string): DurableJob.Job => ({
  key: resolve(path),
  params: { steps: { ":original": { robot: "/upload/handle" } } },
  files: [{ source: DurableJob.path(path), filename: basename(path) }]
})

/** Prints how many jobs are in each state, and returns how many have not ended. */
const progress = Effect.gen(function* () {
  const counts = new Map<DurableJob.State, number>()
  let open = 0
  yield* Stream.runForEach(Durable.list(), ({ endedAt, state }) =>
    Effect.sync(() => {
      counts.set(state, (counts.get(state) ?? 0) + 1)
      if (endedAt === undefined) open++
    })
  )
  yield* Console.log([...counts].map(([state, count]) => `${count} ${state}`).join(", "))
  return open
})

/** Queues every file, and returns when no job is left that has not ended. */
export const uploadAll = (paths: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    yield* Durable.startAll(Stream.map(Stream.fromIterable(paths), jobOf)).pipe(
      Stream.runForEach((outcome) =>
        outcome._tag === "Refused" ? Console.error(`${outcome.job.key}: ${outcome.error.message}`) : Effect.void
      )
    )
    yield* Effect.repeat(progress, { until: (open) => open === 0, schedule: Schedule.spaced("1 second") })
    yield* Stream.runForEach(Durable.list({ state: "Failed" }), ({ failure, key }) =>
      Console.error(`${key}: ${failure?.reason}: ${failure?.message}`)
    )
  })

const host = DurableSqlite.layer("jobs.db").pipe(Layer.provideMerge(AssemblyNode.layerConfig()))

if (import.meta.main) {
  uploadAll(process.argv.slice(2)).pipe(Effect.provide(host), NodeRuntime.runMain)
}
