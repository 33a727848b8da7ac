/**
 * An upload as one step of a workflow of `effect/workflow`. If the process is killed, start the program again with the
 * same file: the engine runs the Activity again, and the journal continues its Assembly and its upload.
 *
 * node durable-activity.ts 42.mp4
 *
 * `ASSEMBLY_BASE_URL`, `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET` configure the client.
 */
import { AssemblyNode } from "@assembly-effect/node"
import { SqliteClient } from "@assembly-effect/sqlite"
import { AssemblyUpload, UploadSource } from "@assembly-effect/tus"
import * as UploadJournalSql from "@assembly-effect/tus/UploadJournalSql"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect, Layer, Schema } from "effect"
import { ClusterWorkflowEngine, SingleRunner } from "effect/cluster"
import { Digest } from "effect/crypto"
import { Activity, Workflow } from "effect/workflow"
import { basename, resolve } from "node:path"

const Publish = Workflow.make("Publish", {
  payload: { path: Schema.String },
  success: Schema.Int,
  // An error is stored, so it must not contain a URL or the id of an Assembly.
  error: Schema.String,
  idempotencyKey: ({ path }) => path
})

/** Returns how many files the service has stored. The result of an Activity is stored, so it must not be a Status. */
const upload = (path: string) =>
  Activity.make({
    name: "upload",
    success: Schema.Int,
    error: Schema.String,
    execute: AssemblyUpload.run({
      params: { steps: { ":original": { robot: "/upload/handle" } } },
      files: [{ source: UploadSource.fromPath(path), filename: basename(path) }]
    }).pipe(
      Effect.map(({ uploads }) => uploads?.length ?? 0),
      Effect.mapError(({ _tag }) => _tag)
    )
  })

const workflows = Publish.toLayer(({ path }) => upload(path))

/** An upload waits for the lease of a process that was killed, at most this long. */
const journal = UploadJournalSql.layer({ leaseDuration: "1 second" })

/** The workflows, and the uploads with their journal, in one database. */
const host = workflows.pipe(
  Layer.provideMerge(ClusterWorkflowEngine.layer),
  Layer.provide(SingleRunner.layer({ runnerStorage: "memory" })),
  Layer.provide(AssemblyUpload.layerJournaled.pipe(Layer.provide(journal))),
  Layer.provide([
    AssemblyNode.layerConfig(),
    // Only one process may run the workflows of the file, so the file is locked.
    SqliteClient.layer({ path: "publish.db", isExclusive: true, isSynced: true }),
    Digest.layerWebCrypto
  ])
)

const program = Effect.gen(function* () {
  const [path = ""] = process.argv.slice(2)
  const count = yield* Publish.execute({ path: resolve(path) })
  yield* Console.log(`${path}: ${count} stored`)
})

if (import.meta.main) {
  program.pipe(Effect.provide(host), NodeRuntime.runMain)
}
