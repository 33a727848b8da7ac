/**
 * Who holds a lease of an upload journal, and whether a holder is known to be gone.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * - `id`: names this process in the leases that it takes, or undefined where nothing names it surely.
 * - `isGone`: whether the holder of this id is known to have ended. An answer of true must be certain: an upload that is
 *   still at work elsewhere would be continued twice.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly id: string | undefined
  readonly isGone: (id: string) => Effect.Effect<boolean>
}

/**
 * Nothing is known: the lease of a process that ended is waited for.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unknown: Service = { id: undefined, isGone: () => Effect.succeed(false) }

/**
 * What is known of the holders of leases; nothing by default.
 *
 * **When to use**
 *
 * To continue at once after a crash, without the wait for the lease of the process that ended.
 * `@assembly-effect/node/LeaseHolder` has a Layer for processes of one machine.
 *
 * **Details**
 *
 * A journal uses the holder that is provided to the upload, else the one that was provided to the Layer of the journal.
 *
 * @since 0.1.0
 * @category references
 */
export const LeaseHolder: Context.Reference<Service> = Context.Reference("@assembly-effect/tus/LeaseHolder", {
  defaultValue: () => unknown
})
