import { FetchClient } from "@assembly-effect/auth"
import { UndiciClient } from "@assembly-effect/node"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { FetchHttpClient, type HttpClient } from "effect/http"
import { Layer } from "effect"

/** The HTTP clients of Node programs. */
export const clients: ReadonlyArray<readonly [name: string, layer: Layer.Layer<HttpClient.HttpClient>]> = [
  ["undici", NodeHttpClient.layerUndici],
  ["node:http", NodeHttpClient.layerNodeHttp],
  ["fetch", FetchHttpClient.layer]
]

/** Those, and our own, which do not send through an HttpClient, but with `fetch` and with the dispatcher of undici. */
export const senders: typeof clients = [
  ...clients,
  ["FetchClient", FetchClient.layer],
  ["the client of AssemblyNode", Layer.orDie(UndiciClient.layerWith({ proxy: "none" }))]
]
