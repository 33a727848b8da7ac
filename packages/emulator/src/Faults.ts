/**
 * What can go wrong between client and server, on purpose.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/**
 * A fault of one request.
 *
 * - `CutRequestBody`: the body of the next request with this method is read up to `afterBytes` bytes. What an upload
 *   got of them is stored, and only then the connection is cut, without an answer. A body of a form is never whole, so
 *   such a request does nothing.
 */
export type Fault = Data.TaggedEnum<{
  CutRequestBody: { readonly method: "POST" | "PATCH" | "PUT"; readonly afterBytes: number }
}>

/**
 * Makes faults.
 *
 * @example Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 1024 })
 */
export const Fault = Data.taggedEnum<Fault>()

/**
 * Injects faults into a running emulator.
 *
 * **Details**
 *
 * Each injected fault meets one request: the first that matches and has met no other. Inject it n times to meet n.
 *
 * @example
 * const faults = yield* Faults.Faults
 * yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 1024 }))
 */
export class Faults extends Context.Service<
  Faults,
  {
    readonly inject: (fault: Fault) => Effect.Effect<void>
    /** Takes back the faults that have met no request. */
    readonly clear: Effect.Effect<void>
  }
>()("@assembly-effect/emulator/Faults") {}
