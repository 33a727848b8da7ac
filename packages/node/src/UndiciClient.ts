/**
 * An HTTP client for Node and Deno that lets uploads reuse the memory of sent pieces.
 */
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as PieceMemory from "@assembly-effect/tus/unstable/PieceMemory"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Process from "node:process"
import { type Dispatcher, Settings } from "./internal/undiciSettings.ts"
import * as UndiciSender from "./internal/undiciSender.ts"

/**
 * - `connections`: the maximum number of connections to one origin, unlimited by default. The time that a request waits
 *   for a connection counts towards the time limits of the request, so prefer a limit on the number of concurrent
 *   uploads.
 * - `proxy`: the default `"environment"` reads `HTTP_PROXY` and `HTTPS_PROXY` (or their lowercase names) when the Layer
 *   is built, `ALL_PROXY` for a variable of these that is missing, and `NO_PROXY` again before each request. `"none"`
 *   ignores these variables.
 * - `dispatcher`: an undici dispatcher that sends all requests, for example a `ProxyAgent`, or an `Agent` with a
 *   certificate. No proxy variable is read then, `connections` and `proxy` are refused, and uploads do not reuse memory.
 *   Its redirect interceptor follows nothing. The program closes the dispatcher. Make it with the undici of
 *   `@effect/platform-node/Undici`.
 *
 * The Layer fails with `InvalidRequest` if an option is invalid, or if a proxy variable is not an http or https URL.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends Schema.Codec.Encoded<typeof Settings> {}

/** An environment variable that contains the URL of a proxy. */
interface Variable {
  readonly name: string
  readonly value: string
}

/** The first of the variables that is set. */
const variable = (...names: ReadonlyArray<string>): Variable | undefined =>
  names.map((name) => ({ name, value: Process.env[name] ?? "" })).find(({ value }) => value !== "")

/** The proxies for http and https URLs, with the names of their environment variables. */
const proxies = ({ dispatcher, proxy = "environment" }: Options) => {
  if (dispatcher !== undefined || proxy !== "environment") return {}
  const all = ["all_proxy", "ALL_PROXY"]
  return { http: variable("http_proxy", "HTTP_PROXY", ...all), https: variable("https_proxy", "HTTPS_PROXY", ...all) }
}

/** Whether undici can read the URL. It decodes the user and the password, in which a `%` is written as `%25`. */
const isProxyUrl = (text: string): boolean => {
  if (!/^https?:\/\//i.test(text)) return false
  try {
    const { password, username } = new URL(text)
    return decodeURIComponent(username + password) !== undefined
  } catch {
    return false
  }
}

const settingIssues = Rules.checker(Settings)

/**
 * Refuses invalid options and variables. The error does not contain the value of a variable, because the value may
 * contain a password.
 */
const check = (given: Options): Effect.Effect<void, InvalidRequest> => {
  // In a JavaScript program, the options may be null.
  const { http, https } = proxies(given ?? {})
  const variables = http?.name === https?.name ? [http] : [http, https]
  const issues = [
    ...settingIssues(given),
    ...variables.flatMap((found) =>
      found === undefined || isProxyUrl(found.value)
        ? []
        : [{ path: [found.name], message: "Expected a URL such as http://proxy.example.com:8080" }]
    )
  ]
  return issues.length === 0
    ? Effect.void
    : Effect.fail(new InvalidRequest({ operation: "UndiciClient.layer", issues }))
}

/** Its redirect interceptor follows nothing: a redirect would take signatures and bytes to another origin. */
const withoutRedirects = (dispatcher: Dispatcher): Dispatcher =>
  dispatcher.compose((dispatch) => (options, handler) => {
    const direct = { ...options, maxRedirections: 0 }
    return dispatch(direct, handler)
  })

/**
 * The dispatcher of the application, or a dispatcher that only this client uses, so that no other code keeps the memory
 * of a sent piece.
 */
const makeDispatcher = (options: Options): Effect.Effect<Dispatcher, never, Scope.Scope> => {
  const { dispatcher: own } = options
  if (own !== undefined) return Effect.sync(() => withoutRedirects(own))
  const agent = { allowH2: false, connections: options.connections ?? null }
  const { http, https } = proxies(options)
  return http === undefined && https === undefined
    ? NodeHttpClient.makeDispatcherOptions(agent)
    : Effect.acquireRelease(
        Effect.map(
          Effect.promise(() => import("@effect/platform-node/Undici")),
          ({ default: Undici }) =>
            new Undici.EnvHttpProxyAgent({
              ...agent,
              ...(http === undefined ? undefined : { httpProxy: http.value }),
              ...(https === undefined ? undefined : { httpsProxy: https.value })
            })
        ),
        (dispatcher) => Effect.promise(() => dispatcher.destroy())
      )
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
export const layerWith = (options: Options = {}): Layer.Layer<HttpClient.HttpClient, InvalidRequest> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.tap(NodeHttpClient.makeUndici, (client) =>
      Effect.map(NodeHttpClient.Dispatcher, (dispatcher) => {
        // A dispatcher of the application may keep or repeat pieces.
        if (options.dispatcher === undefined) PieceMemory.register(client)
        Sender.register(client, UndiciSender.make(dispatcher))
      })
    )
  ).pipe(
    Layer.provide(
      Layer.effect(
        NodeHttpClient.Dispatcher,
        Effect.suspend(() => Effect.flatMap(check(options), () => makeDispatcher(options)))
      )
    )
  )

/**
 * {@link layerWith} without options.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient, InvalidRequest> = layerWith()
