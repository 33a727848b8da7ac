/**
 * Who holds a lease of an upload journal, and whether a holder is known to be gone.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * - `id`: identifies this process in its leases, or undefined where it has no unique identity.
 * - `isGone`: whether the holder with this id has certainly ended. A wrong true lets two processes run the same upload.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly id: string | undefined
  readonly isGone: (id: string) => Effect.Effect<boolean>
}

/**
 * Knows no holder: the lease of a process that ended has to run out.
 *
 * @since 0.1.0
 * @category constructors
 */
export const unknown: Service = { id: undefined, isGone: () => Effect.succeed(false) }

/**
 * Tells which holders of leases have ended. By default it knows none.
 *
 * **When to use**
 *
 * To continue at once after a crash, without waiting for the lease of the process that ended.
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
