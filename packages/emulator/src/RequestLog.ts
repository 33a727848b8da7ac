/**
 * Describes the requests that an emulator has handled, for a log.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/**
 * A request that the emulator has answered, or whose client disconnected before the response.
 *
 * - `operation`: the name of the operation, such as `Assemblies.create` or `Tus.append`. `operation` is undefined if
 *   the request matches no operation, or was refused before the emulator looked for an operation.
 * - `assemblyId`: the id of the Assembly that the request is about. For a request that creates or replays an Assembly,
 *   this is the id of the new Assembly. `assemblyId` is undefined if the request neither names nor creates an Assembly.
 * - `path`: the path without the query, because the query contains a signature.
 * - `status`: the status of the response, or 499 if the client disconnected before the response.
 * - `reason`: the code and the message of the refusal. For status 499, `reason` is a text without a code. `reason` is
 *   undefined if the status is below 400, or if the body of the refusal is empty, cut by a fault or larger than 16 KiB.
 * - `duration`: the time that the emulator needed to make the response. The time to send the body does not count.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  readonly method: string
  readonly operation: string | undefined
  readonly assemblyId: string | undefined
  readonly path: string
  readonly status: number
  readonly reason: string | undefined
  readonly duration: Duration.Duration
}

/**
 * Receives each request that reaches the routes, in the order of the responses. Invalid HTTP, and HTTP/1.1 headers that
 * exceed the limit, are refused before the routes.
 *
 * @since 0.1.0
 * @category models
 */
export type Listener = (entry: Entry) => Effect.Effect<void>
