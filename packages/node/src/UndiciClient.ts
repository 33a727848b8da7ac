/**
 * The HTTP client of Node that uploads are fastest with.
 */
import * as PieceMemory from "@assembly-effect/tus/PieceMemory"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"

/**
 * Undici over a dispatcher of its own, which nothing else can reach, and over HTTP/1.1, where it asks for a piece of a
 * body when those before the last two have left. Uploads use the memory of sent pieces again with this client, and with
 * no other.
 *
 * **Gotchas**
 *
 * A client made from this one, by `HttpClient.mapRequest` for example, is another client: its uploads are right as
 * well, and slower.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<HttpClient.HttpClient> = Layer.effect(
  HttpClient.HttpClient,
  Effect.tap(NodeHttpClient.makeUndici, (client) => Effect.sync(() => PieceMemory.register(client)))
).pipe(Layer.provide(NodeHttpClient.layerDispatcherOptions({ allowH2: false })))
