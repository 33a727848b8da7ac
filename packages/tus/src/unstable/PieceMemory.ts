/**
 * Registers HTTP clients that hold at most the last three pieces of a request body.
 */
import type * as HttpClient from "effect/http/HttpClient"
import { Pool } from "../internal/filePieces.ts"

export type { Pool }

/** Makes the memory of one upload. A bundle that registers no client does not contain this code. */
const pools = new WeakMap<HttpClient.HttpClient, () => Pool>()

/**
 * Registers a client that sends each piece of a streamed body once, and holds at most the last three pieces. An upload
 * with exactly this client reuses the memory of sent pieces when it reads a large file.
 *
 * **Gotchas**
 *
 * Register only a client that you have built yourself, with an undici dispatcher (or another connection pool) that no
 * other code can use. A client that keeps, repeats or compresses pieces would send wrong bytes. A client that is
 * derived from a registered one, for example with `HttpClient.mapRequest`, is a different client and is not registered.
 *
 * @since 0.1.0
 * @category registration
 */
export const register = (client: HttpClient.HttpClient): void => {
  pools.set(client, () => new Pool())
}

/**
 * Whether exactly this client is registered.
 *
 * @since 0.1.0
 * @category guards
 */
export const isRegistered = (client: HttpClient.HttpClient): boolean => pools.has(client)

/**
 * The memory of one upload with this client, if this client is registered.
 *
 * @since 0.1.0
 * @category constructors
 */
export const poolOf = (client: HttpClient.HttpClient): Pool | undefined => pools.get(client)?.()
