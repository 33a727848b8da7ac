import * as UploadProgress from "@assembly-effect/cli/UploadProgress"
import * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import type { UploadUrl } from "@assembly-effect/tus/UploadTarget"
import { describe, expect, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Screen from "./support/screen.ts"

const MiB = 1024n * 1024n
const total = 100n * MiB
// The URL is not checked, because these tests only pass it on.
const url = Redacted.make("http://127.0.0.1/resumable/files/1") as UploadUrl

const progress = (sent: bigint) => UploadEvent.Progress({ sent: sent * MiB, acknowledged: 0n, total })
const retrying = UploadEvent.Retrying({
  attempt: 1,
  delay: Duration.millis(400),
  reason: "the connection failed\u001b[2J"
})

const story: ReadonlyArray<UploadEvent.UploadEvent> = [
  UploadEvent.Created({ url, length: total }),
  ...Array.from({ length: 50 }, (_, index) => progress(BigInt(index))),
  retrying,
  UploadEvent.Resumed({ offset: 48n * MiB }),
  ...Array.from({ length: 52 }, (_, index) => progress(BigInt(index + 49))),
  UploadEvent.Completed({ url, length: total })
]

/** One event every 20 ms. */
const slowly = (events: ReadonlyArray<UploadEvent.UploadEvent>) =>
  Stream.fromIterable(events).pipe(Stream.mapEffect((event) => Effect.as(Effect.sleep("20 millis"), event)))

const follow = (screen: ReturnType<typeof Screen.make>, events: Stream.Stream<UploadEvent.UploadEvent, string>) =>
  UploadProgress.follow(events, UploadProgress.view("cat.mp4")).pipe(Effect.provide(screen.layer), Effect.forkChild)

describe("UploadProgress in a terminal", () => {
  it.effect("rewrites one line and keeps notes above it", () =>
    Effect.gen(function* () {
      const screen = Screen.make({ columns: 80, animated: true })
      const fiber = yield* follow(screen, slowly(story))
      yield* TestClock.adjust("3 seconds")
      const last = yield* Fiber.join(fiber)
      expect(last.acknowledged).toBe(total)
      expect(Screen.visible(screen.text())).toEqual([
        "Retrying in 0.4 s (attempt 1): the connection failed\\x1b[2J",
        "Resumed at 48.0 MiB (48%)",
        "cat.mp4  ████████████████  100%  100.0 MiB / 100.0 MiB   47.2 MiB/s  in 2.1 s",
        ""
      ])
    })
  )

  it.effect("draws ten times a second, however many events there are", () =>
    Effect.gen(function* () {
      const screen = Screen.make({ columns: 80, animated: true })
      const fiber = yield* follow(screen, slowly(story.slice(0, 51)))
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(fiber)
      // 1020 ms of events: a tick at the start and ten after it, hiding and showing the cursor.
      expect(screen.written.length).toBeLessThanOrEqual(13)
    })
  )

  it.effect.each([
    ["an interruption", Stream.concat(slowly(story.slice(0, 20)), Stream.never)],
    ["a failure", Stream.concat(slowly(story.slice(0, 20)), Stream.fail("gone"))]
  ] as const)("gives the cursor back after %s, on a new line", ([, events]) =>
    Effect.gen(function* () {
      const screen = Screen.make({ columns: 80, animated: true })
      const fiber = yield* follow(screen, events)
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(fiber)
      expect(Exit.isFailure(yield* Fiber.await(fiber))).toBe(true)
      expect(screen.written[0]).toBe("\u001b[?25l")
      expect(screen.written.at(-1)).toBe("\n\u001b[?25h")
    })
  )

  it.effect("fits a narrow terminal, so no line wraps", () =>
    Effect.gen(function* () {
      const screen = Screen.make({ columns: 24, animated: true })
      const fiber = yield* follow(screen, slowly(story))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(fiber)
      for (const line of Screen.visible(screen.text())) expect(line.length).toBeLessThan(24)
    })
  )
})

describe("UploadProgress without a terminal", () => {
  it.effect("writes a plain line at each tenth and for each note", () =>
    Effect.gen(function* () {
      const screen = Screen.make({ columns: 0, animated: false })
      const fiber = yield* follow(screen, slowly(story))
      yield* TestClock.adjust("3 seconds")
      yield* Fiber.join(fiber)
      const lines = screen.text().trimEnd().split("\n")
      expect(lines.map((line) => line.replace(/ \(\d.*| in .*/, ""))).toEqual([
        "cat.mp4: 10%",
        "cat.mp4: 20%",
        "cat.mp4: 30%",
        "cat.mp4: 40%",
        "cat.mp4: Retrying",
        "cat.mp4: Resumed at 48.0 MiB",
        "cat.mp4: 50%",
        "cat.mp4: 60%",
        "cat.mp4: 70%",
        "cat.mp4: 80%",
        "cat.mp4: 90%",
        "cat.mp4: 100%"
      ])
      expect(screen.text()).not.toContain("\u001b")
    })
  )

  it.effect("writes one line for an upload of zero bytes", () =>
    Effect.gen(function* () {
      const screen = Screen.make({ columns: 0, animated: false })
      const events = [UploadEvent.Created({ url, length: 0n }), UploadEvent.Completed({ url, length: 0n })]
      yield* Fiber.join(yield* follow(screen, Stream.fromIterable(events)))
      expect(screen.text()).toBe("cat.mp4: 100% (0 B of 0 B), in 0 s\n")
    })
  )
})
