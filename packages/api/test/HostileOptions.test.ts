/** Walks over the options of the client, its guards and retries, of waits and of downloads. */
import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as Budget from "@assembly-effect/api/Budget"
import * as Guard from "@assembly-effect/api/Guard"
import * as Results from "@assembly-effect/api/Results"
import { Authenticator } from "@assembly-effect/auth"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { layer } from "@effect/vitest"
import { Effect, FileSystem, Layer, Redacted, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { assemblyId } from "./utils/operations.ts"

const baseUrl = "http://127.0.0.1:9"
const empty = { name: "empty", size: 0, ssl_url: `${baseUrl}/empty` }

/** Answers every request with a completed Assembly, and a download with an empty file. */
const http = Layer.succeed(
  HttpClient.HttpClient,
  HttpClient.make((request) =>
    Effect.succeed(
      HttpClientResponse.fromWeb(
        request,
        request.url.endsWith("/empty")
          ? new Response("", { headers: { "content-length": "0" } })
          : Response.json({ ok: "ASSEMBLY_COMPLETED", assembly_id: assemblyId })
      )
    )
  )
)

const services = AssemblyClient.layer({ baseUrl }).pipe(
  Layer.provideMerge([Authenticator.layerBearer(Redacted.make("token")), http, NodeFileSystem.layer, NodePath.layer])
)

const pauses = { interval: [0.5], maxInterval: [0.5], maxWait: [0.5] }
const get = Assemblies.get(assemblyId)

/** A number is a duration in milliseconds. No program waits, because every response comes at once. */
const all: ReadonlyArray<HostileOptions.Entry<Layer.Success<typeof services>>> = [
  {
    name: "AssemblyClient.layer",
    options: HostileOptions.names<AssemblyClient.Options>({
      baseUrl: 0,
      origins: 0,
      requestTimeout: 0,
      deadline: 0,
      maxClockSkew: 0,
      maxResponseBytes: 0
    }),
    build: (options) => Layer.build(AssemblyClient.layer({ baseUrl, ...options })),
    meaning: { origins: [[]], requestTimeout: [0.5], deadline: [0.5], maxClockSkew: [0.5] }
  },
  {
    name: "AssemblyClient",
    options: ["withTimeout", "withDeadline"],
    build: ({ withDeadline = 1, withTimeout = 1 }: { readonly withDeadline?: number; readonly withTimeout?: number }) =>
      get.pipe(AssemblyClient.withTimeout(withTimeout), AssemblyClient.withDeadline(withDeadline)),
    meaning: { withTimeout: [0.5], withDeadline: [0.5] }
  },
  {
    name: "RetryPolicy.layer",
    options: HostileOptions.names<RetryPolicy.Options>({ retries: 0, base: 0, maxPause: 0, maxWait: 0 }),
    build: (options) => Layer.build(RetryPolicy.layer(options)),
    meaning: { retries: [0], base: [0.5], maxPause: [0.5], maxWait: [0.5] }
  },
  {
    name: "Budget.layer",
    options: HostileOptions.names<Budget.Options>({ created: 0, running: 0, requests: 0, account: 0 }),
    build: (options) => Layer.build(Budget.layer(options)),
    meaning: { created: [false], running: [false], account: ["Infinity", "nonsense"] }
  },
  {
    name: "Guard.layerCircuitBreaker",
    options: ["failures", "openFor"],
    build: (options) => Layer.build(Guard.layerCircuitBreaker(options)),
    meaning: { openFor: [0.5] }
  },
  {
    name: "Assemblies.awaitCompletion",
    options: ["interval", "maxInterval", "maxWait", "timeout"],
    build: (options) => Assemblies.awaitCompletion(assemblyId, options),
    meaning: { ...pauses, timeout: [0.5] }
  },
  {
    name: "Assemblies.watch",
    options: ["interval", "maxInterval", "maxWait"],
    build: (options) => Stream.runDrain(Assemblies.watch(assemblyId, options)),
    meaning: pauses
  },
  {
    name: "Results.save",
    options: ["stallTimeout", "maxBytes", "mode"],
    build: Effect.fnUntraced(function* (options) {
      const folder = yield* Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())
      return yield* Results.save(empty, `${folder}/empty`, options)
    }),
    meaning: { stallTimeout: [0.5], maxBytes: [0], mode: [0] }
  }
]

layer(services)("A hostile value of an option", (it) => {
  it.effect.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)
})
