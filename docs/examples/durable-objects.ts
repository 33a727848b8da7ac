/**
 * Uploads objects of an object store as durable jobs.
 *
 * OBJECTS_URL=https://objects.example/videos node durable-objects.ts 2026/1.mp4 2026/2.mp4
 *
 * `OBJECTS_URL` is the address of the bucket. `ASSEMBLY_BASE_URL`, `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET` configure
 * the client.
 */
import { AssemblyNode } from "@assembly-effect/node"
import { Durable, DurableJob, DurableSqlite, ObjectStores } from "@assembly-effect/workflow"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer } from "effect"
import { basename } from "node:path"

/** The address of an object. The signer of a real store adds a signature with an end, such as 15 minutes. */
const addressOf = (bucket: URL, key: string): URL => new URL(key, `${bucket.href}/`)

/** The stores that jobs name. */
export const stores = Layer.unwrap(
  Effect.map(Config.URL("OBJECTS_URL"), (bucket) =>
    ObjectStores.layer({ videos: ObjectStores.presigned((key) => Effect.succeed(addressOf(bucket, key))) })
  )
)

// The host opens the objects, so the stores are provided to the host, and the HTTP client to both.
const host = DurableSqlite.layer("jobs.db").pipe(Layer.provide(stores), Layer.provideMerge(AssemblyNode.layerConfig()))

const main = Effect.forEach(
  process.argv.slice(2),
  (key) =>
    Durable.run({
      key,
      params: { steps: { ":original": { robot: "/upload/handle" } } },
      files: [{ source: DurableJob.object("videos", key), filename: basename(key) }]
    }).pipe(
      Effect.matchEffect({
        onFailure: ({ message }) => Console.error(`${key}: ${message}`),
        onSuccess: ({ ok }) => Console.log(`${key}: ${ok}`)
      })
    ),
  { concurrency: "unbounded" }
)

if (import.meta.main) {
  main.pipe(Effect.provide(host), NodeRuntime.runMain)
}
