/**
 * The fastest HTTP client for uploads on Node.
 */
import * as PieceMemory from "@assembly-effect/tus/PieceMemory"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"

/**
 * An HTTP client that uses Undici over HTTP/1.1 with a private dispatcher. It requests a piece of a body only after all
 * but the last two pieces have been sent. Only with this client do uploads reuse the memory of sent pieces.
 *
 * **Gotchas**
 *
 * A client that is derived from this client, for example with `HttpClient.mapRequest`, is a different client. Its
 * uploads are correct, but slower.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.tap(NodeHttpClient.makeUndici, (client) => Effect.sync(() => PieceMemory.register(client)))
).pipe(Layer.provide(NodeHttpClient.layerDispatcherOptions({ allowH2: false })))
