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

/** Those, and the client that `@assembly-effect/node` has: it does not send through an HttpClient, but dispatches itself. */
export const senders: typeof clients = [
  ...clients,
  ["the client of AssemblyNode", Layer.orDie(UndiciClient.layerWith({ proxy: "none" }))]
]
