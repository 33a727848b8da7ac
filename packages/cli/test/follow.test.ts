import * as Progress from "../src/internal/progress.ts"
import { Assembly } from "@assembly-effect/schema"
import { AssemblyUploadEvent as Event, TusError, UploadEvent } from "@assembly-effect/tus"
import type { UploadUrl } from "@assembly-effect/tus/UploadTarget"
import { describe, expect, it } from "@effect/vitest"
import { effect } from "@assembly-effect/testkit/flow"
import { Duration, Effect, Fiber, Redacted, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Screen from "./support/screen.ts"
import * as Follow from "../src/internal/follow.ts"
import * as UploadJob from "../src/internal/uploadJob.ts"

const MiB = 1024n * 1024n
const total = 100n * MiB
// The URL is not checked, because these tests only pass it on.
const url = Redacted.make("http://127.0.0.1/resumable/files/1") as UploadUrl

const assemblyId = Assembly.AssemblyId.make("a".repeat(32))
const status = { assembly_id: assemblyId, ok: "ASSEMBLY_UPLOADING" } as Assembly.Status
const progress = (sent: bigint) => Event.Progress({ sent: sent * MiB, acknowledged: 0n, total })
const ofFile = (file: number, event: UploadEvent.UploadEvent) => Event.FileEvent({ file, event })

/** A first run: one file of 100 MiB, a failure during the upload, and the processing of the Assembly. */
const first = [
  Event.AssemblyCreated({ status }),
  ofFile(0, UploadEvent.Created({ url, length: total })),
  ...Array.from({ length: 50 }, (_, index) => progress(BigInt(index))),
  ofFile(
    0,
    UploadEvent.Retrying({ attempt: 1, delay: Duration.millis(400), reason: "the connection failed\u001b[2J" })
  ),
  ofFile(0, UploadEvent.Resumed({ offset: 48n * MiB })),
  ...Array.from({ length: 52 }, (_, index) => progress(BigInt(index + 49))),
  ofFile(0, UploadEvent.Completed({ url, length: total })),
  Event.FileCompleted({ file: 0, length: total }),
  Event.Uploaded({ assemblyId })
]

/** A second run: the first of two files was stored; the other one continues at 40 of 90 MiB. */
const second = [
  Event.AssemblyResumed({ status }),
  ofFile(0, UploadEvent.Completed({ url, length: 10n * MiB })),
  progress(10n),
  Event.FileCompleted({ file: 0, length: 10n * MiB }),
  ofFile(1, UploadEvent.Resumed({ offset: 40n * MiB })),
  ...Array.from({ length: 51 }, (_, index) => progress(BigInt(index + 50))),
  Event.Uploaded({ assemblyId })
]

/** One event every 20 ms, and then the processing. */
const slowly = (events: ReadonlyArray<Event.AssemblyUploadEvent>) =>
  Stream.fromIterable(events).pipe(
    Stream.mapEffect((event) => Effect.as(Effect.sleep("20 millis"), event)),
    Stream.concat(Stream.fromEffect(Effect.as(Effect.sleep("1 second"), Event.Completed({ status }))))
  )

const follow = Effect.fnUntraced(function* (
  screen: ReturnType<typeof Screen.make>,
  events: ReadonlyArray<Event.AssemblyUploadEvent>,
  names: ReadonlyArray<string>
) {
  const shown = Follow.follow(slowly(events), { names, total: undefined }).pipe(Effect.provide(screen.layer))
  const fiber = yield* Effect.forkChild(shown)
  yield* TestClock.adjust("10 seconds")
  yield* Fiber.join(fiber)
})

/** What is written without a terminal. */
const logged = Effect.fnUntraced(function* (
  events: ReadonlyArray<Event.AssemblyUploadEvent>,
  names: ReadonlyArray<string>
) {
  const screen = Screen.make({ columns: 0, animated: false })
  yield* follow(screen, events, names)
  return screen.text()
})

describe("Follow.follow", () => {
  effect("shows one file, its retries, and the processing of the Assembly", function* () {
    const screen = Screen.make({ columns: 80, animated: true })
    yield* follow(screen, first, ["cat.mp4"])
    expect(Screen.visible(screen.text())).toEqual([
      `Assembly ${assemblyId}`,
      "Retrying in 0.4 s (attempt 1): the connection failed\\x1b[2J",
      "Resumed at 48.0 MiB",
      expect.stringMatching(/^cat\.mp4 {2}█+ {2}100% {2}100\.0 MiB \/ 100\.0 MiB .* in 2\.2 s$/),
      expect.stringMatching(/^Processing, (?:0\.9|1) s$/),
      ""
    ])
  })

  const refused = (attempt: number) =>
    UploadEvent.Retrying({ attempt, delay: Duration.seconds(1), reason: "the connection was refused" })
  const resumed = Event.AssemblyResumed({ status })
  const uploaded = Event.Uploaded({ assemblyId })
  const other = Assembly.AssemblyId.make("b".repeat(32))
  const gone = new TusError.UploadGone({ request: "append", host: "a.example", status: 410, description: "gone" })
  const unknown = new TusError.CreationUnknown({ host: "a", description: "the process ended" })

  const created = Event.AssemblyCreated({ status })

  /** The events of a job by what its log does, and the names of its files. */
  const jobs: Readonly<Record<string, readonly [names: string, ...events: ReadonlyArray<Event.AssemblyUploadEvent>]>> =
    {
      // 50 MiB in slightly more than a second. With the bytes of the earlier run it would be twice as much.
      "does not count bytes of an earlier run as speed": ["a b", ...second],
      "shows a server that is gone once, however many files and attempts fail, until a file resumes": [
        "a b c d e",
        created,
        ...[1, 2, 3].flatMap((attempt) => [0, 1, 2, 3, 4].map((file) => ofFile(file, refused(attempt)))),
        ofFile(0, UploadEvent.Resumed({ offset: 0n })),
        ofFile(0, refused(1)),
        uploaded
      ],
      "shows no speed if an earlier run has sent every byte": [
        "a b",
        resumed,
        ...[0, 1].flatMap((file) => [
          ofFile(file, UploadEvent.Completed({ url, length: 50n * MiB })),
          progress(50n * BigInt(file + 1)),
          Event.FileCompleted({ file, length: 50n * MiB })
        ]),
        uploaded
      ],
      // 60 MiB in 80 milliseconds.
      "counts as sent before only what an earlier run has sent, whatever the first Progress contains": [
        "a",
        resumed,
        ofFile(0, UploadEvent.Resumed({ offset: 40n * MiB })),
        progress(100n),
        uploaded
      ],
      "counts bytes that were sent after a failure as sent by this run": [
        "a",
        resumed,
        ofFile(0, refused(1)),
        ofFile(0, UploadEvent.Created({ url, length: total })),
        progress(100n),
        uploaded
      ],
      "leaves no note about an upload that continues at its first byte": [
        "a",
        resumed,
        ofFile(0, UploadEvent.Resumed({ offset: 0n })),
        progress(100n),
        uploaded
      ],
      "says which Assembly was canceled when a job starts again": [
        "a b",
        resumed,
        ...[0, 1].map((file) => Event.FileFailed({ file, error: unknown })),
        Event.AssemblyCreated({ status: { ...status, assembly_id: other } }),
        uploaded
      ],
      "says once why files failed": [
        "a b c",
        created,
        ...[0, 1, 2].map((file) => Event.FileFailed({ file, error: gone })),
        uploaded
      ]
    }

  effect("writes without a terminal what the file shows", function* () {
    const told = yield* Effect.forEach(Object.entries(jobs), ([about, [names, ...events]]) =>
      Effect.map(logged(events, names.split(" ")), (log) => `# ${about}\n${log}`)
    )
    yield* Effect.promise(() => expect(told.join("\n")).toMatchFileSnapshot("fixtures/logs.txt"))
  })

  const over = { ...status, ok: "ASSEMBLY_COMPLETED" } as Assembly.Status
  const notice = { _tag: "Notice", message: "Already uploaded" } as const

  effect.each([true, false])("draws no bar if nothing has to be sent (animated: %s)", function* (animated) {
    const screen = Screen.make({ columns: animated ? 80 : 0, animated })
    const events = Stream.make(Event.AssemblyResumed({ status: over }), notice, Event.Completed({ status: over })).pipe(
      Stream.mapEffect((event) => Effect.as(Effect.sleep("1 second"), event))
    )
    const shown = Follow.follow(events, { names: ["cat.mp4"], total }).pipe(Effect.provide(screen.layer))
    const fiber = yield* Effect.forkChild(shown)
    yield* Effect.forEach(Array.from({ length: 5 }), () => TestClock.adjust("1 second"), { discard: true })
    yield* Fiber.join(fiber)
    expect(screen.text()).not.toMatch(/[░▓█%]/)
    expect(Screen.visible(screen.text())).toEqual([`${animated ? "" : "cat.mp4: "}Already uploaded`, ""])
  })

  it("measures the speed from the first byte on, also in a continued upload of several files", () => {
    const advance = Follow.makeAdvance(total)
    let now = 0
    let shown = Progress.start(undefined, now)
    const step = (event: Event.AssemblyUploadEvent) => (shown = advance(shown, event, now))
    step(Event.AssemblyResumed({ status }))
    for (; now < 3000; now += 100) shown = Progress.update(shown, { now })
    step(ofFile(0, UploadEvent.Resumed({ offset: 30n * MiB })))
    step(ofFile(1, UploadEvent.Resumed({ offset: 20n * MiB })))
    const seen = [Progress.percent(shown)]
    // Until the first byte of the second file, the sum of the job lacks the bytes of this file from before.
    step(progress(31n))
    seen.push(Progress.percent(shown))
    for (let sent = 51n; sent <= 55n; sent++) {
      now += 100
      step(progress(sent))
    }
    expect(seen).toEqual([50, 50])
    // 1 MiB in 100 milliseconds.
    expect(Progress.rate(shown)).toBeCloseTo(10 * 1024 * 1024, -4)
    expect(Progress.sentence(shown)).toContain(", 4.5 s left")
    // The server has less than was sent. The progress stands still until it is reached again.
    step(ofFile(0, refused(1)))
    now += 5000
    step(ofFile(0, UploadEvent.Resumed({ offset: 30n * MiB })))
    step(progress(52n))
    expect(Progress.percent(shown)).toBe(55)
    now += 100
    step(progress(53n))
    now += 200
    step(progress(55n))
    expect(Progress.rate(shown)).toBeCloseTo(10 * 1024 * 1024, -4)
  })

  effect("says once that the service is gone while the Assembly works, and that it waits", function* () {
    const screen = Screen.make({ columns: 80, animated: true })
    const away = Event.Waiting({ reason: "the connection was refused", until: 5000 })
    const events = [Event.AssemblyCreated({ status }), Event.Uploaded({ assemblyId }), away, away]
    yield* follow(screen, events, ["cat.mp4"])
    const lines = Screen.visible(screen.text())
    expect(lines.filter((line) => line.startsWith("Waiting"))).toEqual(["Waiting: the connection was refused"])
    expect(lines.at(-2)).toMatch(/^Processing, [\d.]+ s, waiting$/)
  })

  effect.each([true, false])("shows the work of the Assembly until its end (animated: %s)", function* (animated) {
    const screen = Screen.make({ columns: animated ? 80 : 0, animated })
    const events = Stream.make(Event.AssemblyCreated({ status }), Event.Uploaded({ assemblyId })).pipe(
      Stream.concat(Stream.fromEffect(Effect.as(Effect.sleep("65 seconds"), Event.Completed({ status }))))
    )
    const shown = Follow.follow(events, { names: ["cat.mp4"], total: undefined }).pipe(Effect.provide(screen.layer))
    const fiber = yield* Effect.forkChild(shown)
    // The clock advances in steps, because the pause begins only after the first events.
    yield* Effect.forEach(Array.from({ length: 70 }), () => TestClock.adjust("1 second"), { discard: true })
    yield* Fiber.join(fiber)
    const lines = Screen.visible(screen.text())
    if (animated) expect(lines.at(-2)).toMatch(/^Processing, 1 min \d s$/)
    else
      expect(lines.slice(-3)).toEqual([
        expect.stringMatching(/^cat\.mp4: Processing, 3\d s$/),
        expect.stringMatching(/^cat\.mp4: Processing, 1 min(?: \d s)?$/),
        ""
      ])
  })
})

effect("a number of bytes in JSON keeps every digit", function* () {
  const safe = BigInt(Number.MAX_SAFE_INTEGER)
  const event = Event.Progress({ sent: safe, acknowledged: safe + 2n, total: undefined })
  const record = yield* UploadJob.toRecord(event, [])
  expect(record).toMatchObject({ event: "Progress", sent: 9_007_199_254_740_991, acknowledged: "9007199254740993" })
})
