import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Faults from "../../Faults.ts"
import * as RequestPath from "./requestPath.ts"

const matches = ({ method, path }: Faults.Where, request: HttpServerRequest.HttpServerRequest): boolean =>
  (method === undefined || method === request.method) &&
  (path === undefined || RequestPath.matches(path, RequestPath.of(request)))

interface Waiting {
  readonly fault: Faults.Fault
  readonly left: number
}

/** Counts one request against a fault. The result is empty if the fault is used up. */
const after = ({ fault, left }: Waiting): ReadonlyArray<Waiting> => (left > 1 ? [{ fault, left: left - 1 }] : [])

const make = Effect.sync(() => {
  let waiting: ReadonlyArray<Waiting> = []
  return {
    add: (fault: Faults.Fault) =>
      Effect.sync(() => {
        waiting = [...waiting, { fault, left: fault.times ?? 1 }]
      }),
    clear: Effect.sync(() => {
      waiting = []
    }),
    /** Takes the fault of a request: the first one that matches. */
    take: (request: HttpServerRequest.HttpServerRequest) =>
      Effect.sync(() => {
        const met = waiting.find(({ fault }) => matches(fault, request))
        waiting = waiting.flatMap((one) => (one === met ? after(one) : [one]))
        return met?.fault
      })
  }
})

/** The injected faults, in the order of their injection. */
export class FaultQueue extends Context.Service<FaultQueue>()("@assembly-effect/emulator/FaultQueue", { make }) {}

export const layer = Layer.effect(FaultQueue, FaultQueue.make)

/** The public `Faults` service, which adds faults to the queue. */
export const layerFaults = Layer.effect(
  Faults.Faults,
  Effect.map(FaultQueue, ({ add, clear }) => Faults.Faults.of({ inject: add, clear }))
)
