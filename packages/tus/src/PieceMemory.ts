/**
 * Which HTTP clients let go of the bytes of a request body as they send them.
 */
import type * as HttpClient from "effect/http/HttpClient"

const known = new WeakSet<HttpClient.HttpClient>()

/**
 * Says of a client that it holds no piece of a streamed body after it has asked for the third one after it, and sends
 * each once. An upload with exactly this client reads a large file into the memory of pieces that it has sent.
 *
 * **Gotchas**
 *
 * Register only a client that you have built yourself, over a dispatcher that nobody else can reach. A client that
 * keeps, repeats or compresses pieces would send other bytes than those of the file. A client made from a registered
 * one, by `HttpClient.mapRequest` for example, is another client and is not registered.
 *
 * @since 0.1.0
 * @category registration
 */
export const register = (client: HttpClient.HttpClient): void => {
  known.add(client)
}

/**
 * Whether exactly this client is registered.
 *
 * @since 0.1.0
 * @category guards
 */
export const isRegistered = (client: HttpClient.HttpClient): boolean => known.has(client)
