import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Stream from "effect/Stream"
import type * as Types from "effect/Types"
import type { ServerResponse } from "node:http"
import { constants, Http2ServerResponse } from "node:http2"
import * as Faults from "../../Faults.ts"
import * as BrokenBody from "./brokenBody.ts"
import * as FaultQueue from "./faultQueue.ts"
import * as RouteRefusal from "./routeRefusal.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The handler of a route. A middleware passes on the errors of the route without handling them. */
type Handler = Effect.Effect<Response, Types.unhandled>

const disconnect = (request: Request): Effect.Effect<void> =>
  Effect.sync(() => void NodeHttpServerRequest.toServerResponse(request).destroy())

const message = "The emulator refused this request because of a configured fault."

const refusal = (request: Request, status: number): Response =>
  RouteRefusal.toResponse(request, { code: "INJECTED_FAULT", status, message })

const toAnswer = (request: Request, { body, headers = {}, status }: Faults.Answer): Response =>
  HttpServerResponse.setHeaders(
    body === undefined ? refusal(request, status) : HttpServerResponse.text(body, { status }),
    headers
  )

/** Closes the connection (or the HTTP/2 stream) after the buffered bytes were sent. */
const hangUp = (request: Request): Effect.Effect<void> =>
  Effect.callback<void>((resume) => {
    const response: ServerResponse | Http2ServerResponse = NodeHttpServerRequest.toServerResponse(request)
    if (response.destroyed) return resume(Effect.void)
    response.once("close", () => resume(Effect.void))
    // The first bytes of the body are sent with the headers, in the next round of the event loop.
    setImmediate(() => {
      if (response instanceof Http2ServerResponse) response.stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      else response.socket?.destroySoon()
    })
  })

/**
 * The bytes of a response, their number (if known) and their content type. The result is undefined if the body is
 * neither bytes nor a stream.
 */
const bytesOf = ({ body }: Response) => {
  switch (body._tag) {
    case "Uint8Array":
      return { bytes: Stream.succeed(body.body), length: body.body.length, contentType: body.contentType }
    case "Stream":
      return { bytes: body.stream, length: body.contentLength, contentType: body.contentType }
    default:
      return undefined
  }
}

/** Sends only the first `afterBytes` bytes of a response. A `content-length` header still announces all bytes. */
const cutAnswer = (request: Request, response: Response, afterBytes: number): Response => {
  const whole = bytesOf(response)
  if (whole === undefined) return response
  const { bytes, contentType, length } = whole
  return HttpServerResponse.stream(
    Stream.concat(BrokenBody.first(bytes, afterBytes), Stream.fromEffectDrain(hangUp(request))),
    { status: response.status, headers: response.headers, contentType, contentLength: length }
  )
}

const moveOffset = (response: Response, by: number): Response => {
  const offset = response.headers["upload-offset"]
  return offset === undefined
    ? response
    : HttpServerResponse.setHeader(response, "upload-offset", String(Math.max(0, Number(offset) + by)))
}

/**
 * Waits until the duration is over or the client disconnects. Without `Effect.interruptible`, a disconnection would not
 * end the wait, because the server runs a middleware without interruption.
 */
const wait = (duration: Duration.Input) => Effect.interruptible(Effect.sleep(duration))

const meet = (handler: Handler, request: Request, fault: Faults.Fault): Handler =>
  Faults.Fault.$match(fault, {
    Delay: ({ duration }) => Effect.andThen(wait(duration), handler),
    CutRequestBody: ({ afterBytes }) =>
      handler.pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, BrokenBody.after(request, afterBytes)),
        Effect.ensuring(disconnect(request))
      ),
    Refuse: (answer) =>
      Stream.runDrain(request.stream).pipe(Effect.ignore, Effect.interruptible, Effect.as(toAnswer(request, answer))),
    RefuseEarly: (answer) =>
      Effect.succeed(HttpServerResponse.setHeader(toAnswer(request, answer), "connection", "close")),
    LoseAnswer: () => Effect.ensuring(handler, disconnect(request)),
    CutAnswer: ({ afterBytes }) => Effect.map(handler, (response) => cutAnswer(request, response, afterBytes)),
    FinishSlowly: ({ duration }) => Effect.tap(handler, wait(duration)),
    MoveOffset: ({ by }) => Effect.map(handler, (response) => moveOffset(response, by))
  })

/** Applies injected faults to the requests of all routes. */
export const layer = HttpRouter.middleware(
  Effect.map(FaultQueue.FaultQueue, (queue) =>
    Effect.fnUntraced(function* (handler: Handler) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const fault = yield* queue.take(request)
      return yield* fault === undefined ? handler : meet(handler, request, fault)
    })
  ),
  { global: true }
)
