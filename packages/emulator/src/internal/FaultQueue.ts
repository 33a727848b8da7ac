import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as Faults from "../Faults.ts"

/** Faults that wait for their request, the first injected first. */
export class FaultQueue extends Context.Service<
  FaultQueue,
  {
    readonly add: (fault: Faults.Fault) => Effect.Effect<void>
    readonly clear: Effect.Effect<void>
    /** The fault that a request meets, if there is one; it will meet no other. */
    readonly take: (request: HttpServerRequest.HttpServerRequest) => Effect.Effect<Faults.Fault | undefined>
  }
>()("@assembly-effect/emulator/FaultQueue") {}

const matches = (fault: Faults.Fault, request: HttpServerRequest.HttpServerRequest): boolean =>
  Faults.Fault.$match(fault, {
    CutRequestBody: ({ method }) => request.method === method
  })

export const layer: Layer.Layer<FaultQueue> = Layer.sync(FaultQueue, () => {
  const waiting: Array<Faults.Fault> = []
  return {
    add: (fault) => Effect.sync(() => void waiting.push(fault)),
    clear: Effect.sync(() => void waiting.splice(0)),
    take: (request) =>
      Effect.sync(() => {
        const index = waiting.findIndex((fault) => matches(fault, request))
        return index === -1 ? undefined : waiting.splice(index, 1)[0]
      })
  }
})

/** The public side of the queue. */
export const layerFaults: Layer.Layer<Faults.Faults, never, FaultQueue> = Layer.effect(
  Faults.Faults,
  Effect.map(FaultQueue, ({ add, clear }) => Faults.Faults.of({ inject: add, clear }))
)
