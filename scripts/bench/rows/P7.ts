import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Signer from "@assembly-effect/auth/Signer"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Transloadit } from "@transloadit/node"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type { HttpClient } from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createHmac, createSecretKey } from "node:crypto"
import * as Harness from "../harness.ts"

const requests = 400
const fromdate = "2026-01-01 00:00:00"

const rate = (seconds: number): number => requests / seconds

/** On Node, node:crypto computes a signature at once; WebCrypto would use another thread. */
const signer = Signer.layerFrom((secret, algorithm) => {
  const key = createSecretKey(Redacted.value(secret), "utf8")
  return (text) => createHmac(algorithm, key).update(text).digest("hex")
})

const authenticated = Authenticator.layerSignedNoDeps().pipe(
  Layer.provide([signer, NodeCrypto.layerSecureRandom]),
  Layer.provide(Credentials.layer({ key: "key", secret: Redacted.make("secret") }))
)

/** Our signed operation with one of the HTTP clients. */
const ours = (baseUrl: string, http: Layer.Layer<HttpClient>) =>
  Effect.gen(function* () {
    const context = yield* Layer.build(AssemblyClient.layer({ baseUrl }).pipe(Layer.provide([authenticated, http])))
    const list = Assemblies.list({ fromDate: DateTime.makeUnsafe(`${fromdate}Z`), pageSize: 50 })
    const all = Effect.repeat(Effect.provideContext(list, context), { times: requests - 1 })
    return Effect.map(Harness.seconds(all), rate)
  }).pipe(Effect.mapError((error) => new Harness.BenchError(error.message)))

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
      undici: Effect.mapError(yield* ours(baseUrl, NodeHttpClient.layerUndici), toBenchError),
      fetch: Effect.mapError(yield* ours(baseUrl, FetchHttpClient.layer), toBenchError),
      official: official(baseUrl),
      raw: raw(baseUrl)
    }
  })

const toBenchError = (error: { readonly message: string }) => new Harness.BenchError(error.message)

export const row: Harness.Row = {
  id: "P7",
  work: "signed list of 50 entries, one after another",
  run: Effect.gen(function* () {
    const { port } = yield* Harness.child(new URL("../servers/list.ts", import.meta.url))
    const samples = yield* Harness.alternate(yield* sides(`http://127.0.0.1:${port}`), { rounds: 9, warmups: 3 })
    return (["undici", "fetch"] as const).flatMap((client) => {
      const figure = { unit: "req/s", ours: samples[client] }
      return [
        Harness.ratio({
          ...figure,
          peer: `@transloadit/node (ours: ${client})`,
          target: Harness.atLeast(2),
          theirs: samples.official
        }),
        Harness.ratio({
          ...figure,
          peer: `fetch + JSON.parse (ours: ${client})`,
          target: Harness.atLeast(0.5),
          theirs: samples.raw
        })
      ]
    })
  })
}
