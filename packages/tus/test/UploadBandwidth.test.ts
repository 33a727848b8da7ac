/**
 * A limit of bandwidth, on the TestClock: how long uploads take, that they share it, and that a wait is no stall.
 */
import { UploadEvent, UploadSource } from "@assembly-effect/tus"
import { Clock, Duration, Effect, Fiber, Stream } from "effect"
import { HttpClient } from "effect/http"
import { assert, describe, it, Idle, MemoryTus, Scene, Upload } from "./utils/index.ts"

/** Runs to the end while the clock is moved on, and returns the result and the time that passed, in seconds. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>, step = 100) => Idle.passTime(effect, step)

const upload = (http: HttpClient.HttpClient, size: number, options: Partial<Upload.Options> = {}) =>
  Effect.gen(function* () {
    const target = yield* Scene.targetAt("https://tus.example.com")
    return yield* Upload.events(target, UploadSource.fromBytes(Scene.content(size)), {
      ...Scene.options,
      stallTimeout: "5 seconds",
      ...options
    }).pipe(Stream.runCollect, Effect.provideService(HttpClient.HttpClient, http))
  })

const limited = (bytesPerSecond: number) => Effect.provide(Upload.layerBandwidth({ bytesPerSecond }))

/** More than is sent with the creation. */
const size = 300_000

describe("a limit of bandwidth", () => {
  it.effect("is absent by default", function* () {
    const { http } = MemoryTus.make()
    const { seconds } = yield* timed(upload(http, size))
    assert.strictEqual(seconds, 0)
  })

  it.effect("is kept by an upload, in every second of it", function* () {
    const { arrivals, http } = MemoryTus.make()
    const { seconds } = yield* timed(upload(http, size).pipe(limited(30_000)))
    assert.closeTo(seconds, 10, 0.3)
    for (const { millis } of arrivals) {
      const within = arrivals.filter((other) => other.millis >= millis && other.millis < millis + 1000)
      const sum = within.reduce((all, { bytes }) => all + bytes, 0)
      assert.isAtMost(sum, 30_000 * 1.2)
    }
  })

  it.effect("is kept when the clock of the computer is set back or forward", function* () {
    for (const hours of [-1, 1]) {
      const { http } = MemoryTus.make()
      const clock = yield* Clock.Clock
      const begun = clock.currentTimeMillisUnsafe()
      const currentTimeMillisUnsafe = () => {
        const now = clock.currentTimeMillisUnsafe()
        return now - begun < 3000 ? now : now + hours * 3_600_000
      }
      const moved: Clock.Clock = { ...clock, currentTimeMillisUnsafe }
      const { seconds, value } = yield* timed(
        upload(http, size).pipe(limited(30_000), Effect.provideService(Clock.Clock, moved))
      )
      assert.closeTo(seconds, 10, 0.3)
      assert.isFalse(value.some(UploadEvent.$is("Retrying")))
    }
  })

  it.effect("is shared by the uploads of a program", function* () {
    const { arrivals, http, offsets } = MemoryTus.make()
    const many = Effect.forEach([0, 1, 2], () => upload(http, size), { concurrency: "unbounded" })
    const { seconds } = yield* timed(many.pipe(limited(30_000)))
    assert.closeTo(seconds, 30, 0.5)
    assert.strictEqual(offsets.size, 3)
    // Until half of the bytes have arrived, no upload is more than three turns ahead of another.
    const sums = new Map<string, number>()
    for (const { bytes, upload: id } of arrivals.slice(0, arrivals.length / 2)) {
      sums.set(id, (sums.get(id) ?? 0) + bytes)
      const counts = [...offsets.keys()].map((each) => sums.get(each) ?? 0)
      assert.isAtMost(Math.max(...counts) - Math.min(...counts), 3 * 3000)
    }
  })

  it.effect("makes an upload wait for its turn longer than a request may stall", function* () {
    const { http } = MemoryTus.make()
    // A turn is 30 kB, and comes every 10 seconds.
    const many = Effect.forEach(Array.from({ length: 100 }), () => upload(http, size), { concurrency: "unbounded" })
    const { value } = yield* timed(many.pipe(limited(300_000)))
    assert.isFalse(value.some((events) => events.some(UploadEvent.$is("Retrying"))))
    assert.isTrue(value.every((events) => events.some(UploadEvent.$is("Completed"))))
  })

  it.effect("does not hide a stall", function* () {
    const { http } = MemoryTus.make({ hangsAfter: 10_000 })
    const { value } = yield* timed(upload(http, size).pipe(limited(30_000)))
    const retrying = value.find(UploadEvent.$is("Retrying"))
    assert.include(retrying?.reason ?? "", "nothing was sent or received for 5s")
  })

  it.effect("counts creations with a body, slices, and bodies with a checksum", function* () {
    const { arrivals, http } = MemoryTus.make()
    const small = yield* timed(Effect.andThen(upload(http, 200_000), upload(http, 200_000)).pipe(limited(20_000)))
    assert.closeTo(small.seconds, 20, 0.5)
    assert.strictEqual(arrivals.length, 2)
    for (const whole of [
      Effect.provideService(upload(http, size), Upload.CanStream, false),
      upload(http, size, { checksum: "sha256" })
    ]) {
      const { seconds, value } = yield* timed(limited(30_000)(whole))
      assert.closeTo(seconds, 10, 0.5)
      assert.isFalse(value.some(UploadEvent.$is("Retrying")))
    }
  })

  it.effect("is not used by an upload that is interrupted while it waits", function* () {
    const { http } = MemoryTus.make()
    const many = Effect.gen(function* () {
      const gone = yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.forkChild(upload(http, size)))
      yield* Effect.sleep("1 second")
      yield* Fiber.interruptAll(gone)
      return yield* Effect.timed(upload(http, size))
    })
    const { value } = yield* timed(many.pipe(limited(30_000)))
    assert.closeTo(Duration.toSeconds(value[0]), 10, 0.5)
  })

  it.effect("is made up for when timers fire late, but not when nothing is sent", function* () {
    const { http } = MemoryTus.make()
    // The clock moves on in steps that no portion divides.
    const late = yield* timed(upload(http, size).pipe(limited(30_000)), 73)
    assert.closeTo(late.seconds, 10, 0.4)
    const twice = Effect.gen(function* () {
      yield* upload(http, size)
      yield* Effect.sleep("60 seconds")
      return yield* upload(http, size)
    })
    const { seconds } = yield* timed(twice.pipe(limited(30_000)))
    assert.closeTo(seconds, 80, 0.5)
  })

  it.effect("is spent in turns of at most 64 KiB, and smaller bodies count by their size", function* () {
    const large = MemoryTus.make()
    yield* timed(upload(large.http, size).pipe(limited(1_000_000_000)))
    assert.isAtLeast(large.arrivals.length, size / 65_536)
    for (const { bytes } of large.arrivals) assert.isAtMost(bytes, 65_536)

    const { arrivals, http } = MemoryTus.make()
    const many = Effect.forEach(Array.from({ length: 100 }), () => upload(http, 60_000))
    const { seconds } = yield* timed(many.pipe(limited(1_000_000)))
    assert.strictEqual(arrivals.length, 100)
    assert.closeTo(seconds, 6, 0.3)
  })
})
