/**
 * Describes the requests that an emulator has answered, for a log.
 */
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/**
 * An answered request.
 *
 * - `operation`: the name of the operation, such as `Assemblies.create` or `Tus.append`. `operation` is undefined if
 *   the request matches no operation, or was refused before the emulator looked for an operation.
 * - `assemblyId`: the id of the Assembly that the request creates, replays or is about. `assemblyId` is undefined if
 *   the request is not about an Assembly.
 * - `path`: the path without the query, because the query contains a signature.
 * - `status`: the status of the response.
 * - `reason`: the code and the message of the refusal. `reason` is undefined if the request was not refused, or if the
 *   body of the refusal is empty or larger than 16 KiB.
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
 * Receives each answered request, in the order of the responses.
 *
 * @since 0.1.0
 * @category models
 */
export type Listener = (entry: Entry) => Effect.Effect<void>
