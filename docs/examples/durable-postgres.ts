/**
 * Durable jobs of several machines. Without arguments, this program is a runner. With arguments, it is a client: it
 * starts a job for each file that its command line names, prints how each job ended, and ends. The runners read the
 * files, so each runner must have the files at the same paths.
 *
 * node durable-postgres.ts
 * node durable-postgres.ts 1.mp4 2.mp4
 *
 * `DATABASE_URL` is the database, and `DEPLOYMENT_SECRET` is a text of at least 32 bytes. Both are the same for all
 * runners and clients. `ASSEMBLY_BASE_URL`, `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET` configure the client of the
 * service.
 */
import { AssemblyNode } from "@assembly-effect/node"
import { Durable, DurableJob } from "@assembly-effect/workflow"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer } from "effect"
import { basename, resolve } from "node:path"

/** The job of a file. Its absolute path is its key. */
const jobOf = (path: string): DurableJob.Job => ({
  key: resolve(path),
  params: { steps: { ":original": { robot: "/upload/handle" } } },
  files: [{ source: DurableJob.path(resolve(path)), filename: basename(path) }]
})

/** Starts the job of a file, waits until a runner has ended it, and prints its end. */
const upload = (path: string) =>
  Durable.run(jobOf(path)).pipe(
    Effect.tap(({ ok }) => Console.log(`${path}: ${ok}`)),
    Effect.tapError(({ message }) => Console.error(`${path}: ${message}`)),
    Effect.result
  )

/** Uploads all files. Fails if a job has failed, but only after the other jobs have ended too. */
const uploadAll = (paths: ReadonlyArray<string>) =>
  Effect.forEach(paths, upload, { concurrency: "unbounded" }).pipe(
    Effect.flatMap(Effect.forEach(Effect.fromResult, { discard: true }))
  )

const options = Effect.gen(function* () {
  const url = yield* Config.Redacted("DATABASE_URL")
  const secret = yield* Config.Redacted("DEPLOYMENT_SECRET")
  return { database: { url }, secrets: [secret] }
})

const services = AssemblyNode.layerConfig()

const runner = Layer.unwrap(Effect.map(options, DurablePostgres.runner)).pipe(Layer.provide(services))

const client = Layer.unwrap(Effect.map(options, DurablePostgres.client)).pipe(Layer.provide(services))

const paths = process.argv.slice(2)

if (paths.length === 0) {
  Layer.launch(runner).pipe(NodeRuntime.runMain)
} else {
  uploadAll(paths).pipe(Effect.provide(client), NodeRuntime.runMain({ disableErrorReporting: true }))
}
