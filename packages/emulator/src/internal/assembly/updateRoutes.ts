import * as Effect from "effect/Effect"
import * as Sse from "effect/encoding/Sse"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as AssemblyStore from "./assemblyStore.ts"
import * as Creation from "./creation.ts"
import * as Refusal from "../http/refusal.ts"
import * as Updates from "./updates.ts"

const toSse = ({ data, event }: Updates.Update) =>
  Sse.encoder.write({ _tag: "Event", event: event ?? "message", id: undefined, data })

const headers = { "cache-control": "no-store", "x-accel-buffering": "no" }

const route = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const updates = yield* Updates.Updates

  /** The last update of an Assembly that has ended. */
  const end = (id: string) =>
    Effect.map(
      assemblies.find(id),
      Option.match({
        onNone: () => Updates.finished(id),
        onSome: ({ error, message, state }) => {
          if (state === "uploading" || state === "executing") return undefined
          return error === null ? Updates.finished(id) : Updates.failed(id, { error, message: message ?? "" })
        }
      })
    )

  return HttpRouter.route(
    "GET",
    "/assemblies/:assemblyId/updates",
    Effect.gen(function* () {
      const { assemblyId = "" } = yield* HttpRouter.params
      if (Option.isNone(yield* assemblies.find(assemblyId))) return Refusal.toResponse(Creation.notFound)
      const events = updates.follow(assemblyId, end(assemblyId)).pipe(Stream.map(toSse), Stream.encodeText)
      // An SSE comment comes first, so that the client sees the open stream at once.
      return HttpServerResponse.stream(Stream.concat(Stream.encodeText(Stream.succeed(": open\n\n")), events), {
        contentType: "text/event-stream",
        headers
      })
    }).pipe(Refusal.answered("GET /assemblies/:assemblyId/updates"))
  )
})

/**
 * `GET /assemblies/:assemblyId/updates`: the live updates of an Assembly (beyond the specification). Like a request for
 * the Status, this request needs no credentials.
 */
export const layer = HttpRouter.addAll(Effect.map(route, (one) => [one]))
