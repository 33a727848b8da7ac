/**
 * Injects realistic failures between client and server.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"

/**
 * Selects the requests that a fault applies to. Without `method`, the fault applies to all methods. Without `path`, the
 * fault applies to all paths.
 *
 * - `method`: the HTTP method in capitals.
 * - `path`: the path of a route. A segment that starts with `:` matches any segment, as in
 *   `/resumable/files/:uploadId`.
 * - `times`: the number of requests that get the fault, 1 by default. With `Infinity` the fault applies until the
 *   faults are cleared.
 *
 * @since 0.1.0
 * @category models
 */
export interface Where {
  readonly method?: "GET" | "HEAD" | "POST" | "PATCH" | "PUT" | "DELETE" | "OPTIONS" | undefined
  readonly path?: string | undefined
  readonly times?: number | undefined
}

/**
 * A fault that the emulator applies to the requests that `Where` selects.
 *
 * - `Delay`: waits before the request is handled.
 * - `CutRequestBody`: reads at most `afterBytes` bytes of the body and cuts the connection without a response. An
 *   upload stores these bytes. A request with a form has no effect, because its form is incomplete.
 * - `Refuse`: reads the body, then responds with `status` without handling the request. Without `body`, the response
 *   has the format of an error of the route. `headers` are added to the response.
 * - `RefuseEarly`: like `Refuse`, but responds and closes the connection at once, without reading the body.
 * - `LoseAnswer`: handles the request and cuts the connection without a response.
 * - `CutAnswer`: handles the request and cuts the connection after `afterBytes` bytes of the response body. A response
 *   without a body is not changed.
 * - `FinishSlowly`: handles the request and responds after `duration`.
 * - `MoveOffset`: handles the request and adds `by` to the `upload-offset` of the response. A negative sum becomes 0.
 *
 * Over HTTP/2, the connection stays open. A fault that cuts the connection ends only the stream of the request.
 *
 * @since 0.1.0
 * @category models
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

/**
 * A response that replaces the response of the route.
 *
 * @since 0.1.0
 * @category models
 */
export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

/**
 * Constructors of faults.
 *
 * @example Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 1024 })
 * @example Faults.Fault.Refuse({ path: "/assemblies", status: 503, times: 2 })
 *
 * @since 0.1.0
 * @category constructors
 */
export const Fault = Data.taggedEnum<Fault>()

/**
 * Injects faults into a running emulator.
 *
 * **Details**
 *
 * At most one fault applies to a request: the oldest fault that matches the request and is not used up.
 *
 * @example
 * const faults = yield* Faults.Faults
 * yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 1024 }))
 *
 * @since 0.1.0
 * @category services
 */
export class Faults extends Context.Service<
  Faults,
  {
    /** Fails if `path` does not begin with a slash, or if `times` is neither a whole number of at least 1 nor `Infinity`. */
    readonly inject: (fault: Fault) => Effect.Effect<void, InvalidRequest>
    /** Removes all faults that are not used up. */
    readonly clear: Effect.Effect<void>
  }
>()("@assembly-effect/emulator/Faults") {}
