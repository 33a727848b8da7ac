/**
 * Uploads files as durable jobs, and receives the notifications of the service, so that a job does not wait for the next
 * look at its Assembly. If the program is killed, start it again with the same files: it continues their jobs.
 *
 * PUBLIC_URL=https://uploads.example PORT=8080 node durable-webhook.ts 1.mp4 2.mp4
 *
 * `PUBLIC_URL` is the URL at which the service reaches this program. `ASSEMBLY_BASE_URL`, `ASSEMBLY_AUTH_KEY` and
 * `ASSEMBLY_AUTH_SECRET` configure the client. The secret also verifies the notifications.
 */
import { Webhook } from "@assembly-effect/auth"
import { HandledNotifications, Webhooks } from "@assembly-effect/http"
import { AssemblyNode } from "@assembly-effect/node"
import { Assembly } from "@assembly-effect/schema"
import { Durable, DurableJob, DurableSqlite } from "@assembly-effect/workflow"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer } from "node:http"
import { basename, resolve } from "node:path"

const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS notified (key CHAR(64) PRIMARY KEY)`
  yield* sql`CREATE TABLE IF NOT EXISTS totals (state VARCHAR(9) PRIMARY KEY, assemblies INTEGER NOT NULL)`
})

/**
 * Counts how Assemblies ended, in a table of the application. The count and the key of the notification are written in
 * one transaction, so a notification that comes again counts once, even if this process was killed in between.
 */
export const count = Effect.fnUntraced(function* ({ key, status }: Webhooks.Notification) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.gen(function* () {
    const isNew = yield* sql`INSERT INTO notified ${sql.insert({ key })} ON CONFLICT DO NOTHING RETURNING key`
    if (isNew.length === 0) return
    const row = sql.insert({ state: Assembly.state(status), assemblies: 1 })
    yield* sql`INSERT INTO totals ${row} ON CONFLICT (state) DO UPDATE SET assemblies = totals.assemblies + 1`
  }).pipe(sql.withTransaction)
})

/**
 * The route for notifications. `Durable.notified` ignores an Assembly of another program. If the database fails, the
 * answer is 500, and the service repeats the notification.
 */
export const notifications = Webhooks.layer({
  path: "/notifications",
  handle: (notification) => Effect.andThen(count(notification), Durable.notified(notification.status.assembly_id))
}).pipe(Layer.provide([Webhook.layer(), HandledNotifications.layerMemory(), Layer.effectDiscard(tables)]))

const keep: DurableJob.Job["params"] = { steps: { ":original": { robot: "/upload/handle" } } }

/** The job of a file. Its absolute path is its key, so the same file is the same job. */
const jobOf = (publicUrl: string, path: string, params: DurableJob.Job["params"]): DurableJob.Job => ({
  key: resolve(path),
  params: { ...params, notifyUrl: `${publicUrl}/notifications` },
  files: [{ source: DurableJob.path(path), filename: basename(path) }]
})

/** Uploads a file, waits until its Assembly has ended, and prints how. */
export const upload = (publicUrl: string, path: string, params = keep) =>
  Durable.run(jobOf(publicUrl, path, params)).pipe(
    Effect.matchEffect({
      onFailure: (error) => Console.error(`${path}: ${error.message}`),
      onSuccess: (status) => Console.log(`${path}: ${status.ok}`)
    })
  )

const main = Effect.gen(function* () {
  const publicUrl = yield* Config.String("PUBLIC_URL")
  yield* Effect.forEach(process.argv.slice(2), (path) => upload(publicUrl, path), { concurrency: "unbounded" })
})

const server = Layer.unwrap(
  Effect.map(Config.Port("PORT"), (port) =>
    HttpRouter.serve(notifications).pipe(Layer.provide(NodeHttpServer.layer(createServer, { port })))
  )
)

// The jobs, the route and the client of the service share one host.
const host = DurableSqlite.layer("jobs.db").pipe(Layer.provideMerge(AssemblyNode.layerConfig()))

if (import.meta.main) {
  main.pipe(Effect.provide(server.pipe(Layer.provideMerge(host))), NodeRuntime.runMain)
}
