/**
 * One side of P7: lists Assemblies from the server at a URL, 400 times for each measurement, and reports the rate.
 * Arguments: the side, the number of calls at once, and the URL.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import Undici from "@effect/platform-node/Undici"
import { Transloadit } from "@transloadit/node"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import Process from "node:process"
import * as Side from "../side.ts"

const [, , side = "node", concurrency = "1", baseUrl = ""] = Process.argv
const requests = 400
const fromdate = "2026-01-01 00:00:00"
const access = { key: "key", secret: Redacted.make("secret") }

/** Our operation, signed, with the Layers of a program. */
const ours = <E>(layer: Layer.Layer<AssemblyClient.AssemblyClient, E>) => {
  const runtime = ManagedRuntime.make(layer)
  const list = Assemblies.list({ fromDate: DateTime.makeUnsafe(`${fromdate}Z`), pageSize: 50 })
  const all = Effect.forEach(Array.from({ length: requests }), () => list, {
    concurrency: Number(concurrency),
    discard: true
  })
  return () => runtime.runPromise(all)
}

const calls = (call: () => Promise<unknown>) => Side.calls(requests, Number(concurrency), call)

const official = () => {
  const client = new Transloadit({ authKey: "key", authSecret: "secret", endpoint: baseUrl })
  return calls(() => client.listAssemblies({ fromdate, pagesize: 50 }))
}

/** The lower bound: no signature and no check of the response. */
const raw = () => {
  const url = `${baseUrl}/assemblies?params=${encodeURIComponent(JSON.stringify({ fromdate, pagesize: 50 }))}`
  return calls(async () => JSON.parse(await (await Undici.request(url)).body.text()))
}

/** `node`: the Layer that a program on Node uses by default. `fetch`: with WebCrypto, which every runtime has. */
const sides: Readonly<Record<string, () => () => Promise<void>>> = {
  node: () => ours(AssemblyNode.layer({ baseUrl, ...access })),
  fetch: () =>
    ours(
      AssemblyClient.layer({ baseUrl }).pipe(
        Layer.provide([Authenticator.layerSigned(), FetchHttpClient.layer]),
        Layer.provide(Credentials.layer(access))
      )
    ),
  official,
  raw
}

const round = sides[side]?.() ?? (() => Promise.reject(new Error(`no side ${side}`)))

Side.answer(async () => {
  const start = performance.now()
  await round()
  return (requests * 1000) / (performance.now() - start)
})
