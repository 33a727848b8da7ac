/**
 * A whole backend. Pages send files, which pass through to the service; files of a folder are uploaded by durable jobs;
 * the service notifies the backend of what has ended; every night a report of the failures is written. What must survive
 * a restart is in one file, `backend.db`.
 *
 * PUBLIC_URL=https://example.com PORT=8080 node backend.ts
 *
 * `ASSEMBLY_BASE_URL`, `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET` configure the client.
 */
import { Assemblies } from "@assembly-effect/api"
import { Webhook } from "@assembly-effect/auth"
import { HandledNotifications, PassThrough, Refusal, Webhooks } from "@assembly-effect/http"
import { AssemblyNode } from "@assembly-effect/node"
import { DamAsset } from "@assembly-effect/schema"
import { Durable, DurableJob, DurableSqlite } from "@assembly-effect/workflow"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, DateTime, Effect, FileSystem, Layer, Schedule, Schema, Stream } from "effect"
import * as Ndjson from "effect/encoding/Ndjson"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

const steps = { ":original": { robot: "/upload/handle" } }

/** `POST /assembly-uploads` takes a form: the field `album`, then a file. An application finds out who the user is. */
const uploads = (notifyUrl: string) =>
  PassThrough.layer({
    fields: Schema.Struct({ album: Schema.String.check(Schema.isMaxLength(100)) }),
    policy: ({ fields }, { cookies: { user } }) =>
      user === undefined
        ? Effect.fail(new Refusal.Unauthenticated({ description: "Sign in before you upload." }))
        : Effect.succeed({ params: { steps, fields: { ...fields, user }, notifyUrl }, maxBytes: 100_000_000 })
  })

/** `POST /assembly-notifications`: each notification is verified, and handled once. */
const notifications = Webhooks.layer({ handle: ({ status }) => Durable.notified(status.assembly_id) }).pipe(
  Layer.provide([Webhook.layer(), HandledNotifications.layerSql()])
)

/** The name in the path of a request. It is no path, so it stays in its folder. */
const nameOf = Effect.flatMap(HttpRouter.params, ({ name }) => Schema.decodeUnknownEffect(DamAsset.Filename)(name))

/** Answers with the state of a job, or with the name of the error: its text may contain a path. */
const answer = Effect.match({
  onFailure: ({ _tag }: { readonly _tag: string }) => HttpServerResponse.jsonUnsafe({ error: _tag }, { status: 400 }),
  onSuccess: ({ state }: DurableJob.Summary) => HttpServerResponse.jsonUnsafe({ state })
})

/** `POST /jobs/<name>` uploads a file of the folder `inbox` by a durable job, and `GET` shows the job. */
const jobs = (notifyUrl: string, inbox: string) => {
  const start = (name: string) => {
    const source = DurableJob.path(`${inbox}/${name}`)
    return Durable.start({ key: name, params: { steps, notifyUrl }, files: [{ source, filename: name }] })
  }
  return Layer.merge(
    HttpRouter.add("POST", "/jobs/:name", nameOf.pipe(Effect.flatMap(start), answer)),
    HttpRouter.add("GET", "/jobs/:name", nameOf.pipe(Effect.flatMap(Durable.status), answer))
  )
}

/** Writes the Assemblies that failed since yesterday into a file. */
export const report = Effect.fnUntraced(
  function* (path: string) {
    const fromDate = DateTime.subtract(yield* DateTime.now, { days: 1 })
    const failed = Stream.pipeThroughChannel(Assemblies.listAll({ fromDate, type: "failed" }), Ndjson.encode())
    yield* Stream.run(failed, (yield* FileSystem.FileSystem).sink(path))
  },
  Effect.catch((error) => Effect.logError("No report was written", error))
)
const everyNight = Schedule.cron("0 2 * * *", "UTC")
const nightly = Layer.effectDiscard(Effect.forkScoped(Effect.schedule(report("failures.ndjson"), everyNight)))

/** The routes and the report. They need the host of the jobs and the client of the service. */
export const backend = (publicUrl: string, inbox = "inbox") => {
  const notifyUrl = `${publicUrl}/assembly-notifications`
  return Layer.mergeAll(uploads(notifyUrl), notifications, jobs(notifyUrl, inbox), nightly)
}

// For Postgres, `DurablePostgres.runner({ … })` instead of `DurableSqlite.layer("backend.db")`.
const host = DurableSqlite.layer("backend.db").pipe(Layer.provideMerge(AssemblyNode.layerConfig()))

const main = Effect.gen(function* () {
  const [url, port] = yield* Effect.all([Config.String("PUBLIC_URL"), Config.Port("PORT")])
  const server = NodeHttpServer.layer(createServer, { port, gracefulShutdownTimeout: "10 minutes" })
  // The server listens after the host has begun, because a request without a route would get no answer.
  return yield* HttpRouter.serve(backend(url)).pipe(Layer.provide(Layer.provideMerge(server, host)), Layer.launch)
})

// SIGTERM: no new request is accepted, running uploads have 10 minutes to end, and jobs continue after the next start.
if (import.meta.main) NodeRuntime.runMain(main)
