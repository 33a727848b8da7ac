import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Multipart from "effect/http/Multipart"
import type { ServerResponse } from "node:http"
import { constants, Http2ServerResponse } from "node:http2"
import * as Faults from "../../Faults.ts"
import * as Around from "./around.ts"
import * as Refusal from "./refusal.ts"

const matches = ({ method, path }: Faults.Where, request: Around.Request): boolean =>
  (method === undefined || method === request.method) && (path === undefined || Around.matches(path, request))

const isTimes = Schema.makeFilter(
  (times: number) => times === Infinity || (Number.isSafeInteger(times) && times >= 1),
  { expected: "a whole number of at least 1, or Infinity" }
)

const decodeWhere = Rules.decoder(
  "Faults.inject",
  Schema.Struct({
    path: Schema.optional(Schema.String.check(Schema.isPattern(/^\//u, { expected: "a path that begins with /" }))),
    times: Schema.optional(Schema.Number.check(isTimes))
  })
)

const make = Effect.sync(() => {
  let waiting: ReadonlyArray<{ readonly fault: Faults.Fault; left: number }> = []
  return {
    inject: (fault: Faults.Fault) =>
      Effect.map(decodeWhere(fault), ({ times = 1 }) => {
        waiting = [...waiting, { fault, left: times }]
      }),
    clear: Effect.sync(() => {
      waiting = []
    }),
    /** Takes the fault of a request: the first one that matches. */
    take: (request: Around.Request) =>
      Effect.sync(() => {
        const met = waiting.find(({ fault }) => matches(fault, request))
        if (met !== undefined) met.left -= 1
        waiting = waiting.filter(({ left }) => left > 0)
        return met?.fault
      })
  }
})

/** The injected faults, in the order of their injection. */
export class FaultQueue extends Context.Service<FaultQueue>()("@assembly-effect/emulator/FaultQueue", { make }) {}

export const layer = Layer.effect(FaultQueue, FaultQueue.make)

/** The public `Faults` service, which adds faults to the queue. */
export const layerFaults = Layer.effect(Faults.Faults, FaultQueue)

/** The first `afterBytes` bytes of a stream. */
const firstBytes = <E>(stream: Stream.Stream<Uint8Array, E>, afterBytes: number): Stream.Stream<Uint8Array, E> =>
  stream.pipe(
    Stream.mapAccum(
      () => afterBytes,
      (left, chunk) => [left - chunk.length, [{ bytes: chunk.subarray(0, left), last: chunk.length >= left }]] as const
    ),
    Stream.takeUntil(({ last }) => last),
    Stream.map(({ bytes }) => bytes)
  )

/** Passes the first `afterBytes` bytes of a stream, then fails with `error`. */
const cut = <E>(stream: Stream.Stream<Uint8Array, E>, afterBytes: number, error: E): Stream.Stream<Uint8Array, E> =>
  Stream.concat(firstBytes(stream, afterBytes), Stream.fail(error))

/**
 * Returns a request whose connection breaks after `bytes` bytes of the body. `stream` contains the first `bytes` bytes,
 * and then fails; `multipartStream` fails at once. The routes read a body in no other way.
 */
const brokenAfter = (
  request: HttpServerRequest.HttpServerRequest,
  bytes: number
): HttpServerRequest.HttpServerRequest => {
  const error = new HttpServerError.HttpServerError({
    reason: new HttpServerError.RequestParseError({ request, description: "the connection broke" })
  })
  const view: HttpServerRequest.HttpServerRequest = Object.create(request, {
    stream: { value: cut(request.stream, bytes, error) },
    multipartStream: { value: Stream.fail(Multipart.MultipartError.fromReason("Parse", error)) }
  })
  return view
}

type Request = Around.Request
type Response = Around.Response

const disconnect = (request: Request): Effect.Effect<void> =>
  Effect.sync(() => void NodeHttpServerRequest.toServerResponse(request).destroy())

const message = "The emulator refused this request because of a configured fault."

const toAnswer = (request: Request, { body, headers = {}, status }: Faults.Answer): Response =>
  HttpServerResponse.setHeaders(
    body === undefined
      ? Around.refused(request, Refusal.refuse("INJECTED_FAULT", status, message))
      : HttpServerResponse.text(body, { status }),
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
 * Sends only the first `afterBytes` bytes of a response. A `content-length` header still announces all bytes. A body that
 * is neither bytes nor a stream is not changed.
 */
const cutAnswer = (request: Request, response: Response, afterBytes: number): Response => {
  const { body, headers, status } = response
  if (body._tag !== "Uint8Array" && body._tag !== "Stream") return response
  const { contentLength, contentType } = body
  const bytes = body._tag === "Stream" ? body.stream : Stream.succeed(body.body)
  return HttpServerResponse.stream(
    Stream.concat(firstBytes(bytes, afterBytes), Stream.fromEffectDrain(hangUp(request))),
    { status, headers, contentType, contentLength }
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

const meet = (handler: Around.Handler, request: Request, fault: Faults.Fault): Around.Handler =>
  Faults.Fault.$match(fault, {
    Delay: ({ duration }) => Effect.andThen(wait(duration), handler),
    CutRequestBody: ({ afterBytes }) =>
      handler.pipe(
        Effect.provideService(HttpServerRequest.HttpServerRequest, brokenAfter(request, afterBytes)),
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
export const around =
  (queue: FaultQueue["Service"]): Around.Around =>
  (handler, request) =>
    Effect.flatMap(queue.take(request), (fault) => (fault === undefined ? handler : meet(handler, request, fault)))
