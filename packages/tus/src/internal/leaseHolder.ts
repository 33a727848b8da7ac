/**
 * Identifies the processes that hold leases of an upload journal, and detects that such a process has ended.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * - `id`: identifies this process in its leases. `id` is undefined if the process has no unique identity.
 * - `isGone`: whether the process with this id has certainly ended. If the result is wrongly true, two processes may
 *   run the same upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface Holder {
  readonly id: string | undefined
  readonly isGone: (id: string) => Effect.Effect<boolean>
}

/**
 * Never detects that a process has ended, so the lease of an ended process lasts until it expires.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unknown: Holder = { id: undefined, isGone: () => Effect.succeed(false) }

/**
 * Detects that a process which holds a lease has ended. The default service never detects that a process has ended.
 *
 * **When to use**
 *
 * Use this service to continue uploads at once after a crash, without waiting for the lease of the ended process.
 * `@assembly-effect/node/LeaseHolder` has a Layer for processes of one Linux machine.
 *
 * **Details**
 *
 * A journal uses the `LeaseHolder` in the context of the upload. If that context has no `LeaseHolder`, the journal uses
 * the `LeaseHolder` in the context of its Layer.
 *
 * @since 0.1.0
 * @category references
 */
export const LeaseHolder: Context.Reference<Holder> = Context.Reference("@assembly-effect/tus/LeaseHolder", {
  defaultValue: () => unknown
})
