import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import type * as Types from "effect/Types"
import * as Faults from "../Faults.ts"
import * as BrokenBody from "./BrokenBody.ts"
import * as FaultQueue from "./FaultQueue.ts"
import * as Refusal from "./Refusal.ts"

type Request = HttpServerRequest.HttpServerRequest

const disconnect = (request: Request): Effect.Effect<void> =>
  Effect.sync(() => void NodeHttpServerRequest.toServerResponse(request).destroy())

/** What the router makes of a request; its errors are not a middleware's to handle. */
type Handler = Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>

const meet = (handler: Handler, request: Request, fault: Faults.Fault) =>
  Faults.Fault.$match(fault, {
    CutRequestBody: ({ afterBytes }) =>
      handler.pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, BrokenBody.after(request, afterBytes)),
        Effect.ensuring(disconnect(request))
      )
  })

/** Lets requests meet their faults, whatever route they take. */
const faults = HttpRouter.middleware(
  Effect.map(FaultQueue.FaultQueue, (queue) =>
    Effect.fnUntraced(function* (handler: Handler) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const fault = yield* queue.take(request)
      return yield* fault === undefined ? handler : meet(handler, request, fault)
    })
  ),
  { global: true }
)

/** The `date` of every answer is the emulator's clock: a client compares it with its own. */
const date = HttpRouter.middleware(
  Effect.fnUntraced(function* (handler: Handler) {
    const response = yield* handler
    const now = yield* DateTime.now
    return HttpServerResponse.setHeader(response, "date", DateTime.toDateUtc(now).toUTCString())
  }),
  { global: true }
)

const notFound = HttpRouter.add("*", "/*", Refusal.toResponse(Refusal.notFound))

/** What holds for every request. */
export const layer = Layer.mergeAll(faults, date, notFound)
