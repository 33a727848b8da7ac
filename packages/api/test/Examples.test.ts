/** Runs the examples of docs/examples against the emulator. */
import { Assemblies, type AssemblyClient, Dam } from "@assembly-effect/api"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import { Credentials, SmartCdn, Webhook } from "@assembly-effect/auth"
import { Emulator } from "@assembly-effect/emulator"
import type { Assembly } from "@assembly-effect/schema"
import { AssetId } from "@assembly-effect/schema/Identifier"
import { Upload } from "@assembly-effect/tus"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, layer } from "@assembly-effect/testkit/flow"
import { Console, DateTime, Effect, FileSystem, Layer, Queue, Redacted, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpRouter, HttpServer } from "effect/http"
import { KeyValueStore } from "effect/persistence"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import * as Operations from "../../../docs/examples/operations.ts"
import { exportDay } from "../../../docs/examples/nightly-listing.ts"
import { layerObservability } from "../../../docs/examples/observability.ts"
import { renameAll } from "../../../docs/examples/rename-from-csv.ts"
import { report } from "../../../docs/examples/statistics-report.ts"
import { bearer, client, signed, signedOnNode } from "../../../docs/examples/swap-authentication.ts"
import * as TokenExample from "../../../docs/examples/tokens.ts"
import { notifications } from "../../../docs/examples/webhooks.ts"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"
import { stored } from "./utils/emulator.ts"

// This example is a separate test suite.
await import("../../../docs/examples/testing-an-application.ts")
await import("../../../docs/examples/testing-a-handler.ts")
await import("../../../docs/examples/testing-a-schema.ts")
await import("../../../docs/examples/testing-any-answer.ts")

const signedClient = Layer.unwrap(
  Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) => client(baseUrl, signed(credentials)))
)

const live = Layer.merge(signedClient, Upload.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Emulator.layer(), FetchHttpClient.layer, NodeServices.layer))
)

/** The names that examples in doc comments may use. */
const known = { Assemblies, Console, Dam, DateTime, Effect, Stream }

/** The examples in the doc comments of a module. */
const examplesIn = (path: string): ReadonlyArray<string> => {
  const source = readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")
  return [...source.matchAll(/^ \* @example(.*?)^ \*(?:\/| @since)/gms)].map(([, text = ""]) =>
    text
      .replaceAll(/^ \* ?/gm, "")
      .trim()
      .replaceAll(/^`|`$/g, "")
  )
}

/** The value of an example: an expression without types. */
const evaluate = (program: string, scope: Readonly<Record<string, unknown>>): unknown =>
  new Function(...Object.keys(scope), `return (${program})`)(...Object.values(scope))

describe("docs/examples", () => {
  layer(live)((it) => {
    it.effect("statistics-report.ts returns a line with the number of Assemblies for each region", function* () {
      yield* Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } } })
      const lines = yield* report(["all", "eu-west-1", "atlantis"])
      assert.strictEqual(lines.length, 3)
      assert.match(lines[0] ?? "", /^all: [1-9]\d* Assemblies$/)
    })

    it.effect("nightly-listing.ts writes the Assemblies of the day to a file of JSON lines", function* () {
      const fs = yield* FileSystem.FileSystem
      const path = `${yield* fs.makeTempDirectoryScoped()}/day.ndjson`
      const { assembly_id: id } = yield* Assemblies.create({ steps: { ":original": { robot: "/upload/handle" } } })
      yield* exportDay(path)
      const lines = (yield* fs.readFileString(path)).trimEnd().split("\n")
      assert.include(
        lines.map((line) => JSON.parse(line).id),
        id
      )
    })

    it.effect("rename-from-csv.ts renames the assets of a CSV file once, and reports a missing asset", function* () {
      const fs = yield* FileSystem.FileSystem
      const [first, second] = [yield* stored("one.txt"), yield* stored("two.txt")]
      const missing = "AAAAAAAAAAAAAAAAAAAAAA"
      const csv = `${yield* fs.makeTempDirectoryScoped()}/names.csv`
      yield* fs.writeFileString(csv, `asset,name\n${first},"a, b.txt"\n${second},c.txt\n${missing},d.txt\n`)
      const outcomes = Effect.map(renameAll(csv), (rows) => Array.from(rows, ({ outcome }) => outcome))
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* outcomes, ["renamed", "renamed", "no such asset"])
        assert.deepStrictEqual(yield* outcomes, ["done before", "done before", "no such asset"])
      }).pipe(Effect.provide(KeyValueStore.layerMemory))
    })

    it.effect("swap-authentication.ts sends a signature, or a token with another Layer", function* () {
      const { baseUrl, credentials } = yield* Emulator.Emulator
      for (const proof of [signed, signedOnNode]) {
        const lines = yield* Effect.provide(report(["all"]), client(baseUrl, proof(credentials)))
        assert.match(lines[0] ?? "", /Assemblies$/)
      }

      const server = yield* Server.answering(Server.json(400, { error: "ASSEMBLY_STATS_ERROR" }))
      const token = Redacted.make("a-token")
      yield* Effect.provide(report(["all"]), client(server.baseUrl, bearer(token)))
      assert.strictEqual(server.received[0]?.headers.authorization, "Bearer a-token")
      assert.isFalse(server.received[0]?.query.has("signature"))
    })

    it.effect("tokens.ts keeps one token in a file, and uses it again", function* () {
      const fs = yield* FileSystem.FileSystem
      const { baseUrl, credentials } = yield* Emulator.Emulator
      const folder = yield* fs.makeTempDirectoryScoped()
      const ask = Effect.provide(report(["all"]), TokenExample.client({ baseUrl, credentials, folder }))
      assert.match((yield* ask)[0] ?? "", /Assemblies$/)
      const read = Effect.flatMap(fs.readDirectory(folder), (names) =>
        Effect.forEach(names, (name) => fs.readFileString(`${folder}/${name}`, "latin1"))
      )
      const kept = yield* read
      assert.strictEqual(kept.length, 1)
      assert.match((yield* ask)[0] ?? "", /Assemblies$/)
      assert.deepStrictEqual(yield* read, kept)
    })

    it.effect("operations.ts contains the programs of docs/operations.md, and each returns its result", function* () {
      const read = (path: string) => readFileSync(new URL(`../../../docs/${path}`, import.meta.url), "utf8")
      const regions = [...read("examples/operations.ts").matchAll(/\/\/ #region \w+\n(.*?)\/\/ #endregion/gs)]
      assert.strictEqual(regions.length, 8)
      for (const [, text = ""] of regions) assert.include(read("operations.md"), `\`\`\`ts\n${text.trimEnd()}\n\`\`\``)

      const fromDate = DateTime.subtract(yield* DateTime.now, { days: 1 })
      const failing = yield* Assemblies.create({ steps: { broken: { robot: "/emulator/fail", error: "MY_ERROR" } } })
      assert.include(yield* Operations.failures(fromDate), `${failing.assembly_id}: MY_ERROR`)
      for (const list of [Operations.once, Operations.spaced, Operations.limited]) {
        assert.isAbove((yield* list(fromDate)).items.length, 0)
      }

      const { baseUrl, credentials } = yield* Emulator.Emulator
      const onNode = Operations.onNode({ baseUrl, ...credentials })
      const found = yield* Effect.provide(Operations.failures(fromDate), onNode)
      assert.include(found, `${failing.assembly_id}: MY_ERROR`)
      const patient = Operations.patientClient(baseUrl).pipe(Layer.provide(signed(credentials)))
      assert.isAbove((yield* Effect.provide(Operations.once(fromDate), patient)).items.length, 0)

      assert.deepStrictEqual(Operations.mistakes, ["hashed.use: Expected the name of a Step"])
      assert.isAbove((yield* Operations.withReader(baseUrl, Operations.once(fromDate))).items.length, 0)
      const unscoped = yield* Effect.flip(Operations.withReader(baseUrl, Assemblies.create({})))
      assert.deepInclude(unscoped, { _tag: "AuthenticationFailed", code: "INSUFFICIENT_AUTH_SCOPE" })
      assert.strictEqual((yield* AuthKeys.list).auth_keys.length, 1)

      assert.strictEqual(yield* Operations.rename(yield* stored("before.txt"), "after.txt"), "renamed")
      const missing = AssetId.make("AAAAAAAAAAAAAAAAAAAAAA")
      assert.strictEqual(yield* Operations.rename(missing, "after.txt"), "no such asset")

      const cdn = SmartCdn.layer.pipe(Layer.provide(Credentials.layer(credentials)))
      const url = yield* Effect.provide(Operations.thumbnail("photos/cat.jpg"), cdn)
      assert.match(url, /^https:\/\/my-workspace\.tlcdn\.com\/thumbnails\/photos%2Fcat\.jpg\?auth_key=/)
      assert.match(url, /&exp=\d+999&w=320&sig=sha256%3A[0-9a-f]{64}$/)
    })

    it.effect("webhooks.ts handles a signed notification, and responds with 403 to a forged one", function* () {
      const { credentials } = yield* Emulator.Emulator
      const handled = yield* Queue.unbounded<Assembly.Status>()
      const routes = notifications((status) => Effect.asVoid(Queue.offer(handled, status)))
      const app = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provide(Webhook.layer().pipe(Layer.provide(Credentials.layer(credentials)))),
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
      )
      yield* Effect.gen(function* () {
        const origin = yield* HttpServer.addressFormattedWith(Effect.succeed)
        const notifyUrl = `${origin}/assembly-notifications`
        const { assembly_id: id } = yield* Assemblies.create({
          steps: { ":original": { robot: "/upload/handle" } },
          notifyUrl
        })
        const { assembly_id: notified, ok } = yield* Queue.take(handled)
        assert.deepStrictEqual({ notified, ok }, { notified: id, ok: "ASSEMBLY_COMPLETED" })

        const forged = HttpClientRequest.post(notifyUrl).pipe(
          HttpClientRequest.bodyUrlParams({ transloadit: "{}", signature: "sha384:00" })
        )
        assert.strictEqual((yield* HttpClient.execute(forged)).status, 403)
        assert.strictEqual((yield* HttpClient.post(notifyUrl)).status, 400)
        assert.strictEqual(yield* Queue.size(handled), 0)
      }).pipe(Effect.provide(app))
    })

    it.effect("the examples in doc comments succeed at the current time", function* () {
      const { assembly_id: assemblyId } = yield* Assemblies.create({
        steps: { ":original": { robot: "/upload/handle" } }
      })
      const scope = { ...known, assemblyId, assetId: yield* stored("old.pdf"), now: yield* DateTime.now }
      const run = Effect.fnUntraced(function* (path: string, toEffect: (value: unknown) => unknown, only = "") {
        const programs = examplesIn(path).filter((program) => program.startsWith(only))
        for (const program of programs) {
          const effect = toEffect(evaluate(program, scope))
          assert.isTrue(Effect.isEffect(effect), program)
          yield* effect as Effect.Effect<unknown, unknown, AssemblyClient.AssemblyClient>
        }
        return programs.length
      })
      const itself = (value: unknown) => value
      const { list, statistics } = Assemblies
      const counts = [
        yield* run("api/src/Assemblies.ts", itself, "Effect.flatMap("),
        yield* run("api/src/Assemblies.ts", itself, "Assemblies.create("),
        yield* run("api/src/Assemblies.ts", itself, "Assemblies.await"),
        yield* run("api/src/Dam.ts", itself, "Dam.move("),
        yield* run("schema/src/AssemblyStatistics.ts", (query) =>
          statistics(query as Parameters<typeof statistics>[0])
        ),
        yield* run("schema/src/AssemblyList.ts", (query) => list(query as Parameters<typeof list>[0]))
      ]
      assert.deepStrictEqual(counts, [3, 1, 1, 1, 1, 1])
    })

    it.effect("observability.ts exports spans and metrics without a signature", function* () {
      const collector = yield* Server.answering(Server.json(200, {}))
      yield* report(["all"]).pipe(Effect.provide(layerObservability(collector.baseUrl)))
      const sent = collector.received.map(({ body, path }) => `${path} ${body}`).join("\n")
      assert.include(sent, "/v1/traces")
      assert.include(sent, "Assemblies.statistics")
      assert.include(sent, "assembly_operations")
      assert.notInclude(sent, "sha384")
      assert.notInclude(sent, "signature")
    })
  })
})
