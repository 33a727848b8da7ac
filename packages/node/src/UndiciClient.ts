/**
 * An HTTP client for Node and Deno that lets uploads reuse the memory of sent pieces.
 */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Settings from "@assembly-effect/api/unstable/Settings"
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
 * - `connections`: the maximum number of connections to one origin, unlimited by default. The time that a request waits
 *   for a connection counts towards the time limits of the request, so prefer a limit on the number of concurrent
 *   uploads.
 * - `proxy`: the default `"environment"` reads `HTTP_PROXY` and `HTTPS_PROXY` (or their lowercase names) when the Layer
 *   is built, and `NO_PROXY` again before each request. `"none"` ignores these variables.
 *
 * The Layer fails with `InvalidRequest` if an option is invalid, or if a proxy variable is not an http or https URL.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options {
  readonly connections?: number | undefined
  readonly proxy?: "environment" | "none" | undefined
}

const proxyVariables = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"]

/** The environment variables that contain the URL of a proxy, with their values. */
const proxies = ({ proxy = "environment" }: Options): ReadonlyArray<readonly [name: string, value: string]> =>
  proxy === "environment"
    ? proxyVariables.flatMap((name) => {
        const value = Process.env[name] ?? ""
        return value === "" ? [] : [[name, value] as const]
      })
    : []

const isProxyUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text)

/**
 * Refuses invalid options and variables. The error does not contain the value of a variable, because the value may
 * contain a password.
 */
const check = (options: Options): Effect.Effect<void, ApiError.InvalidRequest> => {
  const issues = [
    ...Settings.issues({ connections: Settings.whole(options.connections, 1) }),
    ...proxies(options).flatMap(([name, value]) =>
      isProxyUrl(value) ? [] : [{ path: [name], message: "Expected a URL such as http://proxy.example.com:8080" }]
    )
  ]
  return issues.length === 0
    ? Effect.void
    : Effect.fail(new ApiError.InvalidRequest({ operation: "UndiciClient.layer", issues }))
}

/** Makes a dispatcher that only this client uses, so that no other code keeps the memory of a sent piece. */
const makeDispatcher = (options: Options): Effect.Effect<NodeHttpClient.Dispatcher["Service"], never, Scope.Scope> => {
  const agent = { allowH2: false, connections: options.connections ?? null }
  return proxies(options).length > 0
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
 * An HTTP client that uses Undici over HTTP/1.1 with a private dispatcher. The client requests the next piece of a body
 * when at most two earlier pieces are still unsent. Uploads with this client reuse the memory of sent pieces.
 *
 * **Details**
 *
 * Uploads and operations set the time limits of their requests. In this client, Undici itself has no time limit for a
 * body, and a limit of one hour for headers. An idle connection is kept for 4 seconds, or for 2 seconds less than the
 * server announces in `Keep-Alive`, at most 10 minutes. A Node server announces 5 seconds by default, so the client
 * closes an idle connection before the server does. This order matters, because a request on a connection that the
 * server closes is lost, and a lost creation request is not repeated.
 *
 * **Gotchas**
 *
 * A client that is derived from this client, for example with `HttpClient.mapRequest`, counts as a different client.
 * Uploads with such a derived client are correct, but slower.
 *
 * @example UndiciClient.layerWith({ proxy: "none" })
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options: Options = {}): Layer.Layer<HttpClient.HttpClient, ApiError.InvalidRequest> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.tap(NodeHttpClient.makeUndici, (client) =>
      Effect.sync(() => {
        PieceMemory.register(client)
        Transport.registerReader(client, UndiciBody.reader)
      })
    )
  ).pipe(
    Layer.provide(
      Layer.effect(
        NodeHttpClient.Dispatcher,
        Effect.suspend(() => Effect.andThen(check(options), makeDispatcher(options)))
      )
    )
  )

/**
 * {@link layerWith} without options.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient, ApiError.InvalidRequest> = layerWith()
