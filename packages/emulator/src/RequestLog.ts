/**
 * Describes the requests that an emulator has answered, for a log.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/**
 * A request that the emulator has answered, or whose client has disconnected before the response.
 *
 * - `operation`: the name of the operation, such as `Assemblies.create` or `Tus.append`. `operation` is undefined if
 *   the request matches no operation, or was refused before the emulator looked for an operation.
 * - `assemblyId`: the id of the Assembly that the request creates or is about. For a replay, this is the id of the new
 *   Assembly. `assemblyId` is undefined if the request is not about an Assembly, or was refused before the emulator
 *   knew the id.
 * - `path`: the path without the query, because the query contains a signature.
 * - `status`: the status of the response. 499 means that the client has disconnected before the response.
 * - `reason`: the code and the message of the refusal. `reason` is undefined if the status is below 400, or if the body
 *   of the refusal is empty or larger than 16 KiB.
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
 * Receives each answered request, in the order of the responses. A request that is refused by Node, because it is not
 * valid HTTP or because it exceeds the limit `headers` or `headersTime`, is not reported.
 *
 * @since 0.1.0
 * @category models
 */
export type Listener = (entry: Entry) => Effect.Effect<void>
