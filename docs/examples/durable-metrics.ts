/**
 * A runner of durable jobs whose metrics Prometheus reads, and what to ask Prometheus.
 *
 * DATABASE_URL=postgres://… DEPLOYMENT_SECRET=… PORT=9464 node durable-metrics.ts
 *
 * `ASSEMBLY_BASE_URL`, `ASSEMBLY_AUTH_KEY` and `ASSEMBLY_AUTH_SECRET` configure the client of the service.
 */
import { AssemblyNode } from "@assembly-effect/node"
import { Durable } from "@assembly-effect/workflow"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { createServer } from "node:http"

/** Counts the jobs, then writes all metrics of this process. Without the database, the answer is 503. */
export const metrics = HttpRouter.add(
  "GET",
  "/metrics",
  Effect.andThen(Durable.counts, PrometheusMetrics.format()).pipe(
    Effect.map((text) => HttpServerResponse.text(text, { contentType: "text/plain; version=0.0.4" })),
    Effect.catchTag("StoreFailed", () => Effect.succeed(HttpServerResponse.empty({ status: 503 })))
  )
)

/** Every runner counts all jobs of the database, but only its own attempts: hence `max` and `sum`. */
export const queries = {
  "jobs by state": "max by (state) (durable_jobs)",
  "seconds that the oldest job waits": 'max(durable_job_age{state="Queued"})',
  "jobs a day": 'sum(rate(durable_jobs_ended{state="Completed"}[5m])) * 86400',
  "share of failures": 'sum(rate(durable_jobs_ended{state="Failed"}[5m])) / sum(rate(durable_jobs_ended[5m]))',
  "takeovers in an hour": "sum(increase(durable_takeovers[1h]))",
  "waits for the budget a second": "sum(rate(assembly_budget_wait_count[5m]))",
  "refusals a million requests":
    '1e6 * sum(rate(assembly_retries{error="RateLimited"}[5m])) / sum(rate(assembly_operations[5m]))'
}

const runner = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* Config.Redacted("DATABASE_URL")
    const secret = yield* Config.Redacted("DEPLOYMENT_SECRET")
    return DurablePostgres.runner({ database: { url }, secrets: [secret] })
  })
).pipe(Layer.provide(AssemblyNode.layerConfig()))

const server = Layer.unwrap(
  Effect.map(Config.Port("PORT"), (port) =>
    HttpRouter.serve(metrics).pipe(Layer.provide(NodeHttpServer.layer(createServer, { port })))
  )
)

if (import.meta.main) {
  Layer.launch(server.pipe(Layer.provide(runner))).pipe(NodeRuntime.runMain)
}
