import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import type * as RequestLog from "../../RequestLog.ts"
import * as RequestNote from "./requestNote.ts"

const decodeRefusal = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ error: Schema.String, message: Schema.optionalKey(Schema.String) }))
)

/** The maximum size of the body of a refusal that is read for the log, in bytes. */
const maxRefusal = 16_384

/** The code and the message in the body of a refusal, which is a JSON object, or one line of text from a tus route. */
const reasonOf = ({ body, status }: HttpServerResponse.HttpServerResponse): string | undefined => {
  if (status < 400 || body._tag !== "Uint8Array" || body.body.length > maxRefusal) return undefined
  const text = new TextDecoder().decode(body.body)
  return Option.match(decodeRefusal(text), {
    onNone: () => text.trim(),
    onSome: ({ error, message }) => (message === undefined ? error : `${error}: ${message}`)
  })
}

/** The id of an Assembly in the path of a request. The Assembly may not exist. */
const assemblyOf = (url: string): string | undefined =>
  /^\/(?:assemblies|assembly_notifications)\/([0-9a-f]{32})(?:[/?]|$)/.exec(url)?.[1]

/** The response to a request whose client has disconnected. The log uses the response, which is never sent. */
const disconnected = HttpServerResponse.text("the client has closed the connection", { status: 499 })

/** Calls the listener for each request. Without a listener, requests are not measured. */
export const layer = (listener: RequestLog.Listener | undefined) =>
  listener === undefined
    ? Layer.empty
    : HttpRouter.middleware(
        Effect.fnUntraced(function* (handler: Effect.Effect<HttpServerResponse.HttpServerResponse, Types.unhandled>) {
          const { method, url } = yield* HttpServerRequest.HttpServerRequest
          const note: RequestNote.Note = {}
          const before = yield* Clock.currentTimeMillis
          const tell = (response: HttpServerResponse.HttpServerResponse) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) =>
              Effect.suspend(() => {
                const told = listener({
                  method,
                  operation: note.operation,
                  assemblyId: note.assemblyId ?? assemblyOf(url),
                  path: url.split("?", 1)[0] ?? "",
                  status: response.status,
                  reason: reasonOf(response),
                  duration: Duration.millis(now - before)
                })
                // In a JavaScript program, the listener may return a Promise.
                return Effect.isEffect(told) ? told : Effect.void
              }).pipe(
                // The listener is the program's own code. Its failure must not take a response from a client.
                Effect.catchCause((cause) => Effect.logWarning("onRequest of the emulator failed", cause))
              )
            )
          return yield* RequestNote.provide(handler, note).pipe(
            Effect.tap(tell),
            Effect.onInterrupt(() => tell(disconnected))
          )
        }),
        { global: true }
      )
