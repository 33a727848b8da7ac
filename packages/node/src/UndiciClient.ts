/**
 * The fastest HTTP client for uploads on Node.
 */
import * as Transport from "@assembly-effect/auth/unstable/Transport"
import * as PieceMemory from "@assembly-effect/tus/PieceMemory"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Process from "node:process"
import * as UndiciBody from "./internal/undiciBody.ts"

/**
 * - `connections`: the maximum number of connections to one origin, unlimited by default. While a request waits for a
 *   connection, its own time limits run. If you can, limit the number of concurrent uploads instead.
 * - `proxy`: `"environment"` by default, which reads `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` (or their lowercase
 *   names) when the Layer is built. `"none"` ignores them.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options {
  readonly connections?: number | undefined
  readonly proxy?: "environment" | "none" | undefined
}

const proxyVariables = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]

const isProxied = ({ proxy = "environment" }: Options): boolean =>
  proxy === "environment" && proxyVariables.some((name) => (Process.env[name] ?? "") !== "")

/** The dispatcher is private, so that no other code keeps the memory of a sent piece. */
const makeDispatcher = (options: Options): Effect.Effect<NodeHttpClient.Dispatcher["Service"], never, Scope.Scope> => {
  const agent = { allowH2: false, connections: options.connections ?? null }
  return isProxied(options)
    ? Effect.acquireRelease(
        Effect.map(
          Effect.promise(() => import("@effect/platform-node/Undici")),
          ({ default: Undici }) => new Undici.EnvHttpProxyAgent(agent)
        ),
        (dispatcher) => Effect.promise(() => dispatcher.destroy())
      )
    : NodeHttpClient.makeDispatcherOptions(agent)
}

/**
 * An HTTP client that uses Undici over HTTP/1.1 with a private dispatcher. It requests a piece of a body only after all
 * but the last two pieces have been sent. Only with this client do uploads reuse the memory of sent pieces.
 *
 * **Details**
 *
 * The time limits come from uploads and operations: Undici itself has none for a body here, and one hour for headers.
 * An idle connection is kept for 4 seconds, or as long as the server announces. A Node server closes it after 5
 * seconds. A request on a connection that the server is closing is lost, and a creation is never sent twice.
 *
 * **Gotchas**
 *
 * A client that is derived from this client, for example with `HttpClient.mapRequest`, is a different client. Its
 * uploads are correct, but slower.
 *
 * @example UndiciClient.layerWith({ proxy: "none" })
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options: Options = {}): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.tap(NodeHttpClient.makeUndici, (client) =>
      Effect.sync(() => {
        PieceMemory.register(client)
        Transport.registerReader(client, UndiciBody.reader)
      })
    )
  ).pipe(Layer.provide(Layer.effect(NodeHttpClient.Dispatcher, makeDispatcher(options))))

/**
 * {@link layerWith} without options.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = layerWith()
