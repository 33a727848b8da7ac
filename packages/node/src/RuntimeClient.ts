/**
 * Chooses the HTTP client for a server runtime. Only this module makes this choice.
 */
import * as FetchClient from "@assembly-effect/auth/FetchClient"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Process from "node:process"
import * as UndiciClient from "./UndiciClient.ts"

const isBun = () => Process.versions["bun"] !== undefined

/**
 * The HTTP client for the current runtime: `UndiciClient` on Node and Deno, and `fetch` on Bun, because the `undici`
 * module of Bun lacks most functions. In other runtimes, such as a page or workerd, use `FetchClient.layer`.
 *
 * On Bun, a `dispatcher` is refused with `InvalidRequest`, the other options are ignored, and the `fetch` of Bun reads the
 * proxy from the environment.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerWith = (options?: UndiciClient.Options): Layer.Layer<HttpClient.HttpClient, InvalidRequest> =>
  Layer.suspend(() => {
    if (!isBun()) return UndiciClient.layerWith(options)
    return options?.dispatcher === undefined ? FetchClient.layer : Layer.effectContext(Effect.fail(noDispatcher))
  })

const noDispatcher = new InvalidRequest({
  operation: "RuntimeClient.layer",
  issues: [{ path: ["dispatcher"], message: "Expected no dispatcher on Bun, whose fetch has its own options" }]
})

/**
 * {@link layerWith} without options.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient, InvalidRequest> = layerWith()
