/** The process of one runner. It ends with the process that forked it. */
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as DurablePostgres from "@assembly-effect/workflow/DurablePostgres"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

/** What the parent process passes as the first argument, as JSON. */
export interface Args {
  readonly name: string
  readonly baseUrl: string
  readonly key: string
  readonly secret: string
  readonly database: string
  readonly deployment: string
  readonly expiry: number | undefined
  readonly uploads: number
}

const args: Args = JSON.parse(process.argv[2] ?? "")

const client = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, HttpClient.mapRequest(HttpClientRequest.setHeader("x-runner", args.name)))
)

const services = client.pipe(
  Layer.provideMerge(AssemblyNode.layer({ baseUrl: args.baseUrl, key: args.key, secret: Redacted.make(args.secret) }))
)

const runner = DurablePostgres.runner({
  database: { url: Redacted.make(args.database) },
  secrets: [Redacted.make(args.deployment)],
  expiry: args.expiry,
  uploads: args.uploads,
  pollInterval: "500 millis"
}).pipe(Layer.provide(services))

process.on("disconnect", () => process.exit(0))

Layer.build(runner).pipe(
  Effect.andThen(Effect.sync(() => process.send?.("ready"))),
  Effect.andThen(Effect.never),
  Effect.scoped,
  NodeRuntime.runMain
)
