/**
 * Leaving an upload, whatever it is doing: no socket stays open, nothing runs on, and what was sent can be gone on with.
 */
import { Tus, type TusError, UploadEvent, UploadJournal, UploadSource } from "@assembly-effect/tus"
import type { UploadTarget } from "@assembly-effect/tus/UploadTarget"
import { Effect, Schedule, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { assert, describe, it, Clients, type Fault, Scene, TusServer, Upload } from "./utils/index.ts"

const bytes = Scene.content(2_500_000)
const sha256 = TusServer.sha256(bytes)
const source = UploadSource.fromBytes(bytes)
const options = { ...Scene.options, retryDelay: "10 seconds" } as const
// The next run has no time to lose.
const resumed = { ...options, retryDelay: "1 millis" } as const

const slow: Fault = { _tag: "Slow", method: "PATCH", bytes: 100_000, millis: 20 }
const cut: Fault = { _tag: "Cut", method: "PATCH", bytes: 300_000 }
const passed: Fault = { _tag: "SlowAnswer", method: "PATCH", millis: 0 }
const never = { _tag: "SlowAnswer", millis: 20_000 } as const

type Event = UploadEvent.UploadEvent
type Tag = Event["_tag"]
type Seen = ReadonlyArray<Event>

type Services = HttpClient.HttpClient | UploadJournal.UploadJournal

/** A way to upload, and to go on with what was left. */
interface Way {
  /** What the requests meet, by the event: the upload is to be in the middle of something then. */
  readonly faults: Partial<Readonly<Record<Tag, ReadonlyArray<Fault>>>>
  /** How many requests may be on their way at once. */
  readonly width: number
  readonly leave: (
    target: UploadTarget,
    more: Partial<Upload.Options>
  ) => Stream.Stream<Event, TusError.UploadError, Services>
  readonly resume: (target: UploadTarget, seen: Seen) => Effect.Effect<unknown, TusError.UploadError, Services>
}

/** Goes on by the protocol alone: the upload is where the first event said. */
const continueAt = (_: UploadTarget, seen: Seen) =>
  Effect.gen(function* () {
    const url = seen.find(UploadEvent.$is("Created"))?.url
    if (url === undefined) return assert.fail("there is no upload to go on with")
    const { offset } = yield* Tus.offset(url)
    if (offset < bytes.length) yield* Tus.append(url, { offset, body: bytes.subarray(Number(offset)) })
  })

const faults = {
  Created: [slow],
  Progress: [slow],
  Retrying: [cut],
  Resumed: [cut, slow],
  Finishing: [{ ...never, method: "PATCH" }],
  Completed: []
} satisfies Way["faults"]

const journaled = (own: Partial<Upload.Options>): Pick<Way, "leave" | "resume"> => ({
  leave: (target, more) => Upload.journaled.events(target, source, { ...options, ...more, ...own }),
  resume: (target) => Upload.journaled.run(target, source, { ...resumed, ...own })
})

const ways: Readonly<Record<string, Way>> = {
  "in one request": {
    faults,
    width: 1,
    leave: (target, more) => Upload.events(target, source, { ...options, ...more }),
    resume: continueAt
  },
  "with a journal": { faults, width: 1, ...journaled({}) },
  "in parts with a journal": {
    faults: {
      ...faults,
      Retrying: [cut, slow],
      PartCompleted: [passed, slow],
      Finishing: [{ ...never, method: "FINAL" }]
    },
    width: 2,
    ...journaled({ parallel: 2 })
  }
}

/** What keeps this process alive, by kind. */
const handles = (kind: "TCPSocketWrap" | "Timeout") =>
  process.getActiveResourcesInfo().filter((name) => name === kind).length

const soon = (problem: () => string | undefined) =>
  Effect.suspend(() => {
    const found = problem()
    return found === undefined ? Effect.void : Effect.fail(found)
  }).pipe(Effect.retry({ schedule: Schedule.spaced("5 millis"), times: 1000 }))

const now = () => ({ timers: handles("Timeout"), sockets: handles("TCPSocketWrap") })

/** What is there when nothing happens: what an earlier test has left may still be ending. */
const quiet = Effect.gen(function* () {
  const counts: Array<string> = []
  yield* soon(() => {
    counts.push(JSON.stringify(now()))
    return new Set(counts.slice(-4)).size === 1 && counts.length > 4 ? undefined : "never quiet"
  })
  return now()
})

for (const [client, clientLayer] of Object.entries(Clients.beneath)) {
  for (const [way, { faults: met, leave, resume, width }] of Object.entries(ways)) {
    // The ways share what a client does when a request is left.
    if (client !== "undici" && way !== "in one request") continue
    describe(`leaving an upload ${way}, sent with ${client}`, () => {
      for (const [tag, faultsThen] of Object.entries(met)) {
        it.live(
          `at ${tag}: no socket, no timer, and it can be gone on with`,
          UploadJournal.layerMemory(),
          function* () {
            const { server, target } = yield* Scene.make(faultsThen)
            const before = yield* quiet
            const seen: Array<Event> = []
            let requestsThen = 0
            // What is gone below is there before: the request whose answer never comes, the pause.
            const isThere = soon(() => {
              if (tag === "Finishing" && width === 1 && server.busy() === 0) return "no request is on its way"
              return tag === "Retrying" && handles("Timeout") === 0 ? "no pause has begun" : undefined
            })
            yield* leave(target, tag === "Resumed" ? { retryDelay: "1 millis" } : {}).pipe(
              Stream.tap(({ _tag }) => (_tag === tag ? isThere : Effect.void)),
              Stream.takeUntil((event) => {
                seen.push(event)
                requestsThen = server.requests.length
                return event._tag === tag
              }),
              Stream.runDrain,
              // The client's own connections end with the client.
              Effect.provide(clientLayer)
            )
            assert.strictEqual(seen.at(-1)?._tag, tag)

            yield* soon(() => (server.busy() === 0 ? undefined : `${server.busy()} requests go on`))
            assert.isAtMost(server.requests.length - requestsThen, width)
            // The agent of Node's own fetch belongs to the process; it may keep connections that nobody uses.
            if (client === "fetch") server.closeIdle()
            yield* soon(() => {
              const [connections, { sockets, timers }] = [server.connections(), now()]
              const left = { connections, sockets: sockets - before.sockets, timers: timers - before.timers }
              return Object.values(left).every((count) => count <= 0) ? undefined : JSON.stringify(left)
            })

            const requests = server.requests.length
            yield* Effect.sleep("20 millis")
            assert.strictEqual(server.requests.length, requests, "nothing runs on")
            server.faults.length = 0
            yield* Effect.provide(resume(target, seen), Clients.undici)
            assert.strictEqual(yield* Scene.stored(server, -1), sha256)
            assert.strictEqual(server.created.length, width === 1 ? 1 : 3)
          }
        )
      }
    })
  }
}
