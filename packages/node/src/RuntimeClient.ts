/**
 * Which HTTP client a server runtime uses: the one place that decides it.
 */
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Process from "node:process"
import * as UndiciClient from "./UndiciClient.ts"

const isBun = () => Process.versions["bun"] !== undefined

/**
 * The options of undici; `fetch` of Bun reads the proxy of the environment by itself and ignores them.
 *
 * @since 0.1.0
 * @category options
 */
export type Options = UndiciClient.Options

/**
 * The HTTP client for the runtime that this program runs on: `UndiciClient` on Node and on Deno, `fetch` on Bun, which
 * has a module in undici's place that lacks most of it. Elsewhere, as in a page or in workerd, use
 * `FetchHttpClient.layer`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options?: Options): Layer.Layer<HttpClient.HttpClient> =>
  Layer.suspend(() => (isBun() ? FetchHttpClient.layer : UndiciClient.layerWith(options)))

/**
 * {@link layerWith} without options.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = layerWith()
