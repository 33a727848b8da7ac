import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import { Transloadit } from "@transloadit/node"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Harness from "../harness.ts"

const requests = 400
const fromdate = "2026-01-01 00:00:00"

const rate = (seconds: number): number => requests / seconds

const access = { key: "key", secret: Redacted.make("secret") }

/** Our operation, signed, with the Layers of a program. */
const ours = <E extends { readonly message: string }>(layer: Layer.Layer<AssemblyClient.AssemblyClient, E>) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(layer)
    const list = Assemblies.list({ fromDate: DateTime.makeUnsafe(`${fromdate}Z`), pageSize: 50 })
    const all = Effect.repeat(Effect.provideContext(list, context), { times: requests - 1 })
    return Effect.map(Harness.seconds(all), rate)
  }).pipe(Effect.mapError((error) => new Harness.BenchError(error.message)))

/** The Layer that a program on Node uses by default. */
const node = (baseUrl: string) => ours(AssemblyNode.layer({ baseUrl, ...access }))

/** The same client with `fetch` and WebCrypto, which every runtime has. */
const withFetch = (baseUrl: string) =>
  ours(
    AssemblyClient.layer({ baseUrl }).pipe(
      Layer.provide([Authenticator.layerSigned(), FetchHttpClient.layer]),
      Layer.provide(Credentials.layer(access))
    )
  )

const official = (baseUrl: string) => {
  const client = new Transloadit({ authKey: "key", authSecret: "secret", endpoint: baseUrl })
  return Harness.attempt(async () => {
    for (let index = 0; index < requests; index++) await client.listAssemblies({ fromdate, pagesize: 50 })
  }).pipe(Harness.seconds, Effect.map(rate))
}

/** The lower bound: no signature and no check of the response. */
const raw = (baseUrl: string) => {
  const url = `${baseUrl}/assemblies?params=${encodeURIComponent(JSON.stringify({ fromdate, pagesize: 50 }))}`
  return Harness.attempt(async () => {
    for (let index = 0; index < requests; index++) JSON.parse(await (await fetch(url)).text())
  }).pipe(Harness.seconds, Effect.map(rate))
}

const sides = (baseUrl: string) =>
  Effect.gen(function* () {
    return {
      node: Effect.mapError(yield* node(baseUrl), toBenchError),
      fetch: Effect.mapError(yield* withFetch(baseUrl), toBenchError),
      official: official(baseUrl),
      raw: raw(baseUrl)
    }
  })

const toBenchError = (error: { readonly message: string }) => new Harness.BenchError(error.message)

const layers = { node: "AssemblyNode", fetch: "fetch, WebCrypto" }

export const row: Harness.Row = {
  id: "P7",
  work: "signed list of 50 entries, one after another",
  run: Effect.gen(function* () {
    const { port } = yield* Harness.child(new URL("../servers/list.ts", import.meta.url))
    const samples = yield* Harness.alternate(yield* sides(`http://127.0.0.1:${port}`), { rounds: 9, warmups: 3 })
    return (["node", "fetch"] as const).flatMap((client) => {
      const figure = { unit: "req/s", ours: samples[client] }
      return [
        Harness.ratio({
          ...figure,
          peer: `@transloadit/node (ours: ${layers[client]})`,
          target: Harness.atLeast(client === "node" ? 1.6 : 1.2),
          theirs: samples.official
        }),
        Harness.ratio({
          ...figure,
          peer: `fetch + JSON.parse (ours: ${layers[client]})`,
          target: Harness.atLeast(0.5),
          theirs: samples.raw
        })
      ]
    })
  })
}
