import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as RequestLog from "../../RequestLog.ts"
import * as Around from "./around.ts"
import * as RequestNote from "./requestNote.ts"

const decodeRefusal = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ error: Schema.String, message: Schema.optionalKey(Schema.String) }))
)

/** The maximum size of the body of a refusal that is read for the log, in bytes. */
const maxRefusal = 16_384

/** The code and the message in the body of a refusal, which is a JSON object, or one line of text from a tus route. */
const reasonOf = ({ body, status }: Around.Response): string | undefined => {
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

/** Calls the listener for each request. */
export const around = (listener: RequestLog.Listener): Around.Around =>
  Effect.fnUntraced(function* (handler, request) {
    const { method, url } = request
    const note: RequestNote.Note = {}
    const before = yield* Clock.currentTimeMillis
    const tell = Effect.fnUntraced(
      function* (response: Around.Response) {
        const told = listener({
          method,
          operation: note.operation,
          assemblyId: note.assemblyId ?? assemblyOf(url),
          path: Around.pathOf(request),
          status: response.status,
          reason: reasonOf(response),
          duration: Duration.millis((yield* Clock.currentTimeMillis) - before)
        })
        // In a JavaScript program, the listener may return a Promise.
        if (Effect.isEffect(told)) yield* told
      },
      // The listener is the program's own code. Its failure must not take a response from a client.
      Effect.catchCause((cause) => Effect.logWarning("onRequest of the emulator failed", cause))
    )
    return yield* RequestNote.provide(handler, note).pipe(
      Effect.tap(tell),
      Effect.onInterrupt(() => tell(disconnected))
    )
  })
