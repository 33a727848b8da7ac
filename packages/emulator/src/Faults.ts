/**
 * What can go wrong between client and server, on purpose.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/**
 * The requests that meet a fault; without a field, any.
 *
 * - `method`: in capitals.
 * - `path`: the path of a route. A segment that starts with `:` stands for any, as in `/resumable/files/:uploadId`.
 * - `times`: how many requests meet it, 1 by default. `Infinity` is until the faults are cleared.
 */
export interface Where {
  readonly method?: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE" | "OPTIONS" | undefined
  readonly path?: string | undefined
  readonly times?: number | undefined
}

/**
 * A fault of one request.
 *
 * - `Delay`: it waits before it is handled (latency).
 * - `CutRequestBody`: its body is read up to `afterBytes` bytes. What an upload got of them is stored, and only then
 *   the connection is cut, without an answer. A body of a form is never whole, so such a request does nothing.
 * - `Refuse`: it is answered with `status` and not handled, after its body was read. `body` and `headers` are by
 *   default those of an error of its route.
 * - `RefuseEarly`: the same without a look at its body: answered and closed while the body may still be coming.
 * - `LoseAnswer`: it is handled, and the connection is cut without an answer.
 * - `CutAnswer`: it is handled, and the connection is cut after `afterBytes` bytes of the answer's body.
 * - `FinishSlowly`: it is handled, and the answer comes after `duration`.
 * - `MoveOffset`: it is handled, and the `upload-offset` of the answer is `by` bytes off, but not below 0.
 */
export type Fault = Data.TaggedEnum<{
  Delay: Where & { readonly duration: Duration.Input }
  CutRequestBody: Where & { readonly afterBytes: number }
  Refuse: Where & Answer
  RefuseEarly: Where & Answer
  LoseAnswer: Where
  CutAnswer: Where & { readonly afterBytes: number }
  FinishSlowly: Where & { readonly duration: Duration.Input }
  MoveOffset: Where & { readonly by: number }
}>

/** What a request is answered with instead. */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

/**
 * Makes faults.
 *
 * @example Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 1024 })
 * @example Faults.Fault.Refuse({ path: "/assemblies", status: 503, times: 2 })
 */
export const Fault = Data.taggedEnum<Fault>()

/**
 * Injects faults into a running emulator.
 *
 * **Details**
 *
 * A request meets one fault at most: the first injected of those that match and are not used up.
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
