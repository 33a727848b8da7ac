/**
 * Leaving an upload, whatever it is doing: no socket stays open, nothing runs on, and what was sent can be gone on with.
 */
import * as Upload from "@assembly-effect/tus/Upload"
import type { UploadEvent } from "@assembly-effect/tus/UploadEvent"
import * as UploadJournal from "@assembly-effect/tus/UploadJournal"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import type { Fault } from "./utils/Fault.ts"
import * as Scene from "./utils/Scene.ts"
import * as TusServer from "./utils/TusServer.ts"

const bytes = Scene.content(2_500_000)
const source = UploadSource.fromBytes(bytes)

const cut: Fault = { _tag: "Cut", method: "PATCH", bytes: 700_000 }
const events: ReadonlyArray<readonly [UploadEvent["_tag"], ReadonlyArray<Fault>, number]> = [
  ["Created", [], 1],
  ["Progress", [], 1],
  ["Finishing", [], 1],
  ["Retrying", [cut], 1],
  ["Resumed", [cut], 1],
  ["PartCompleted", [], 2],
  ["Progress", [], 2],
  ["Finishing", [], 2]
]

const clients = {
  undici: NodeHttpClient.layerUndici,
  "node:http": NodeHttpClient.layerNodeHttp,
  fetch: NodeHttpClient.layerFetch
}

for (const [name, client] of Object.entries(clients)) {
  describe(`leaving an upload with ${name}`, () => {
    for (const [tag, faults, parallel] of events) {
      it.live(
        `at ${tag}${parallel === 1 ? "" : ` of ${parallel} parts`}${faults.length === 0 ? "" : ", after a failure"}`,
        () =>
          Effect.gen(function* () {
            const { server, target } = yield* Scene.make(faults)
            const upload = Upload.resumable(target, source, { ...Scene.options, parallel, retryDelay: "20 millis" })
            const last = yield* Stream.runLast(Stream.takeUntil(upload, (event) => event._tag === tag))
            assert.strictEqual(last._tag === "Some" ? last.value._tag : undefined, tag)
            // A request that was left does not go on; connections that wait for the next one are the client's.
            const log = server.log.length
            yield* Effect.suspend(() => (server.busy() === 0 ? Effect.void : Effect.fail("busy"))).pipe(
              Effect.retry({ schedule: Schedule.spaced("5 millis"), times: 400 })
            )
            assert.isAtMost(server.log.length - log, parallel)

            yield* Upload.result(Upload.resumable(target, source, { ...Scene.options, parallel }))
            assert.strictEqual(yield* Scene.stored(server, -1), TusServer.sha256(bytes))
            assert.strictEqual(server.created.length, parallel === 1 ? 1 : 3)
          }).pipe(Effect.scoped, Effect.provide(Layer.merge(client, UploadJournal.layerMemory())))
      )
    }
  })
}

/** What keeps this process alive, by kind. */
const handles = (kind: string) => process.getActiveResourcesInfo().filter((name) => name === kind).length

// The agent of Node's own fetch belongs to the process and keeps idle connections for a while.
for (const [name, client] of Object.entries({ undici: clients.undici, "node:http": clients["node:http"] })) {
  describe(`what is left of an upload with ${name}`, () => {
    // Resumed comes after a pause, which here is long enough to be seen.
    for (const [tag, faults, parallel] of events.filter(([event]) => event !== "Resumed")) {
      it.live(`at ${tag}${parallel === 1 ? "" : ` of ${parallel} parts`}: no socket and no timer`, () =>
        Effect.gen(function* () {
          const { server, target } = yield* Scene.make(faults)
          const before = { sockets: handles("TCPSocketWrap"), timers: handles("Timeout") }
          const atTheEnd = { sockets: 0, timers: 0 }
          const upload = Upload.resumable(target, source, { ...Scene.options, parallel, retryDelay: "20 seconds" })
          yield* upload.pipe(
            Stream.takeUntil((event) => {
              if (event._tag !== tag) return false
              atTheEnd.sockets = server.connections()
              atTheEnd.timers = handles("Timeout")
              return true
            }),
            Stream.runDrain,
            // The client's own connections end with the client.
            Effect.provide(Layer.merge(client, UploadJournal.layerMemory()))
          )
          // So that what is gone below was there: the request that finishes, and the pause.
          if (tag === "Finishing" && parallel === 1) assert.isAbove(atTheEnd.sockets, 0)
          if (tag === "Retrying") assert.isAbove(atTheEnd.timers, before.timers)
          yield* Effect.suspend(() =>
            server.connections() === 0 &&
            handles("TCPSocketWrap") <= before.sockets &&
            handles("Timeout") <= before.timers
              ? Effect.void
              : Effect.fail(`${server.connections()} connections, ${process.getActiveResourcesInfo().join()}`)
          ).pipe(Effect.retry({ schedule: Schedule.spaced("5 millis"), times: 400 }))
        }).pipe(Effect.scoped)
      )
    }
  })
}

describe("a slow consumer", () => {
  it.live("does not slow the upload, and what it missed of the progress is left out", () =>
    Effect.gen(function* () {
      const { server, target } = yield* Scene.make()
      const seen: Array<UploadEvent> = []
      yield* Upload.upload(target, source, { ...Scene.options, chunkSize: 10_000 }).pipe(
        Stream.runForEach((event) =>
          Effect.suspend(() => {
            seen.push(event)
            // The first event is held until the upload is over.
            return event._tag === "Created"
              ? Effect.suspend(() =>
                  server.log.filter((line) => line === "PATCH 204").length === 250
                    ? Effect.void
                    : Effect.fail("waiting")
                ).pipe(Effect.retry({ schedule: Schedule.spaced("5 millis"), times: 4000 }))
              : Effect.void
          })
        )
      )
      assert.isAtMost(seen.length, 6)
      assert.deepInclude(seen.at(-1), { _tag: "Completed", length: 2_500_000n })
    }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layerUndici))
  )
})
