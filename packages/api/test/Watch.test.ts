import { Authenticator } from "@assembly-effect/auth"
import * as Undici from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Fiber, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import * as Service from "./utils/FakeService.ts"
import { assemblyId, status } from "./utils/operations.ts"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"
import * as Idle from "@assembly-effect/testkit/time/Idle"

const authenticated = Authenticator.layerSigned().pipe(Layer.provide(Service.credentials))

/** A service whose Assembly has an update stream. Polling is so slow that a test can end only through events. */
const service = (updates: (state: { current: string; connections: number; readings: number }) => Server.Answer) =>
  Effect.gen(function* () {
    const server = yield* Server.make
    const state = { current: "ASSEMBLY_UPLOADING", connections: 0, readings: 0 }
    server.script((request, response) => {
      if (request.path === "/updates") {
        state.connections++
        updates(state)(request, response)
      } else {
        state.readings++
        Server.json(200, {
          ...status,
          ok: state.current,
          update_stream_url: `${server.baseUrl}/updates?assembly=${assemblyId}`
        })(request, response)
      }
    })
    return { server, state }
  })

const slow = { interval: "1 hour", maxInterval: "1 hour" } as const

/** Provides a client of the server. */
const at = ({ baseUrl }: Server.HostileServer, http = FetchHttpClient.layer) =>
  Effect.provide(AssemblyClient.layer({ baseUrl }).pipe(Layer.provide([authenticated, http]), Layer.orDie))

const statesOf = (options: Parameters<typeof Assemblies.watch>[1] = slow) =>
  Stream.runCollect(Stream.map(Assemblies.watch(assemblyId, options), ({ ok }) => ok))

const updates = { ...status, ok: "ASSEMBLY_EXECUTING", update_stream_url: "https://api2.example.com/updates" }

/** Runs a watch for some seconds. Returns the number of its connections to the update stream, and of its readings. */
const counting = Effect.fnUntraced(function* (
  seconds: number,
  options: Parameters<typeof Assemblies.watch>[1],
  stream: (connection: number) => Service.Line
) {
  const counts = { connections: 0, readings: 0 }
  const fake = Service.make((request, url) =>
    (url.pathname === "/updates"
      ? stream(++counts.connections)
      : Service.json(200, { ...updates, reading: ++counts.readings }))(request, url)
  )
  const idle = Idle.make()
  const watching = Effect.provide(Stream.runDrain(Assemblies.watch(assemblyId, options)), Service.client(fake))
  const fiber = yield* Effect.forkChild(idle.within(watching))
  yield* Idle.passSeconds(idle, seconds)
  yield* Fiber.interrupt(fiber)
  return counts
})

const eventStream = { "content-type": "text/event-stream" }

describe("watch with an update stream", () => {
  for (const [name, http] of Object.entries({ fetch: FetchHttpClient.layer, undici: Undici.layerUndici })) {
    it.live(`watch reads the Status after each event, also in pieces and after a retry line (${name})`, function* () {
      const { server } = yield* service((state) => (request, response) => {
        assert.strictEqual(request.headers.accept, "text/event-stream")
        assert.strictEqual(request.headers.authorization, undefined)
        response.writeHead(200, eventStream)
        state.current = "ASSEMBLY_EXECUTING"
        const read = (count: number, then: () => void) =>
          state.readings < count ? void setImmediate(read, count, then) : then()
        response.write("retry: 10\n\nevent: assembly_upload_finished\nda")
        // The client reads when it is connected, so the pieces do not arrive together.
        read(2, () => {
          response.write('ta: {"id":"x"}\n\n')
          read(3, () => {
            state.current = "ASSEMBLY_COMPLETED"
            response.end("data: assembly_finished\n\n")
          })
        })
      })
      assert.deepStrictEqual(yield* statesOf().pipe(at(server, http)), [
        "ASSEMBLY_UPLOADING",
        "ASSEMBLY_EXECUTING",
        "ASSEMBLY_COMPLETED"
      ])
    })
  }

  it.live("watch emits only its own Assembly if the stream names another one", function* () {
    const stranger = JSON.stringify({ ok: "ASSEMBLY_CANCELED", assembly_id: "f".repeat(32) })
    const { server } = yield* service((now) => (_, response) => {
      now.current = "ASSEMBLY_COMPLETED"
      response.writeHead(200, eventStream)
      response.write(`event: assembly_finished\ndata: ${stranger}\n\n`)
    })
    const seen = yield* Assemblies.watch(assemblyId, slow).pipe(Stream.runCollect, at(server))
    assert.deepStrictEqual(
      Array.from(seen, ({ assembly_id, ok }) => [ok, assembly_id]),
      [
        ["ASSEMBLY_UPLOADING", assemblyId],
        ["ASSEMBLY_COMPLETED", assemblyId]
      ]
    )
  })

  it.live("watch connects again after the stream breaks, and reads the Status at each connection", function* () {
    // No event is sent, so only the reading at the second connection can find the end.
    const { server, state } = yield* service((now) => (_, response) => {
      if (now.connections === 1) return response.destroy()
      now.current = "ASSEMBLY_COMPLETED"
      return response.writeHead(200, eventStream).flushHeaders()
    })
    assert.deepStrictEqual(yield* statesOf().pipe(at(server)), ["ASSEMBLY_UPLOADING", "ASSEMBLY_COMPLETED"])
    assert.strictEqual(state.connections, 2)
  })

  it.effect("watch connects again soon after a stream with events, and less often after streams without", function* () {
    const connections = (text: string) =>
      Effect.map(
        counting(60, slow, () => Service.text(200, text, eventStream)),
        (counts) => counts.connections
      )
    assert.isAbove(yield* connections("data: x\n\n"), 15)
    assert.isBelow(yield* connections(": nothing\n\n"), 12)
  })

  it.effect.each([
    ["the service does not respond to the request for the stream", () => Effect.never],
    ["no stream follows the one that was cut", Service.text(503, "busy")]
  ] as const)("watch reads the Status at its interval if %s", function* ([, later]) {
    const { readings } = yield* counting(20, { interval: "1 second", maxInterval: "1 second" }, (connection) =>
      connection === 1 ? Service.text(200, "data: x\n\n", eventStream) : later
    )
    assert.isAbove(readings, 15)
  })

  it.live("watch closes its connection when the reader stops", function* () {
    const closed = Promise.withResolvers<void>()
    const { server } = yield* service((state) => (_, response) => {
      state.current = "ASSEMBLY_EXECUTING"
      response.on("close", () => closed.resolve())
      response.writeHead(200, eventStream)
      response.write("data: assembly_uploading_finished\n\n")
    })
    yield* Assemblies.watch(assemblyId, slow).pipe(Stream.take(2), Stream.runDrain, at(server))
    yield* Effect.promise(() => closed.promise)
  })

  it.live("watch sends no request to an update stream URL with user info", function* () {
    const catcher = yield* Server.make
    const server = yield* Server.answering(
      Server.json(200, { ...status, update_stream_url: catcher.baseUrl.replace("127.0.0.1", "user@127.0.0.1") }),
      Server.json(200, { ...status, ok: "ASSEMBLY_COMPLETED" })
    )
    assert.strictEqual((yield* statesOf({ interval: "10 millis" }).pipe(at(server))).length, 2)
    assert.strictEqual(catcher.received.length, 0)
  })
})
