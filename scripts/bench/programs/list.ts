/**
 * One side of P7: lists Assemblies from the server at a URL, `count` times for each measurement. Arguments: the
 * side, the count, the number of calls at once, and the URL.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as FetchClient from "@assembly-effect/auth/FetchClient"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import Undici from "@effect/platform-node/Undici"
import { Transloadit } from "@transloadit/node"
import * as DateTime from "effect/DateTime"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import Process from "node:process"
import * as Side from "../side.ts"

const [, , side = "", count, concurrency, baseUrl = ""] = Process.argv
const fromdate = "2026-01-01 00:00:00"
const access = { key: "key", secret: Redacted.make("secret") }

/** Our operation, signed, with the Layers of a program. */
const ours = <E>(layer: Layer.Layer<AssemblyClient.AssemblyClient, E>) =>
  Side.effects(
    layer,
    Assemblies.list({ fromDate: DateTime.makeUnsafe(`${fromdate}Z`), pageSize: 50 }),
    Number(count),
    Number(concurrency)
  )

const calls = (call: () => Promise<unknown>) => Side.calls(Number(count), Number(concurrency), call)

const official = () => {
  const client = new Transloadit({ authKey: "key", authSecret: "secret", endpoint: baseUrl })
  return calls(() => client.listAssemblies({ fromdate, pagesize: 50 }))
}

/** The lower bound: no signature and no check of the response. */
const raw = () => {
  const url = `${baseUrl}/assemblies?params=${encodeURIComponent(JSON.stringify({ fromdate, pagesize: 50 }))}`
  return calls(async () => JSON.parse(await (await Undici.request(url)).body.text()))
}

const sides: Readonly<Record<string, Side.Side>> = {
  /** The Layer that a program on Node uses by default. */
  node: () => ours(AssemblyNode.layer({ baseUrl, ...access })),
  /** With WebCrypto, which every runtime has. */
  fetch: () =>
    ours(
      AssemblyClient.layer({ baseUrl }).pipe(
        Layer.provide([Authenticator.layerSigned(), FetchClient.layer]),
        Layer.provide(Credentials.layer(access))
      )
    ),
  official,
  raw
}

Side.answer(sides, side)
