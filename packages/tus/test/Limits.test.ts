/**
 * Limits that uploads share, on the TestClock: of bandwidth, and the budget of their account. A wait is no stall and no
 * failure.
 */
import * as Budget from "@assembly-effect/api/Budget"
import { AssemblyUploadEvent, UploadEvent, UploadSource } from "@assembly-effect/tus"
import { Clock, Duration, Effect, Fiber, Layer, Stream } from "effect"
import { HttpClient } from "effect/http"
import { assert, describe, it, Account, AssemblyUpload, Idle, MemoryTus, Scene, Tests, Upload } from "./utils/index.ts"

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

  it.effect("a bandwidth counts a form that is sent whole", function* () {
    const account = Account.make()
    const files = [{ source: UploadSource.fromBytes(Scene.content(200_000)), filename: "a" }]
    const run = AssemblyUpload.run({ params: { steps: {} }, files, transport: "form", wait: false })
    yield* timed(run.pipe(limited(20_000), Effect.provide(account.layer)))
    assert.closeTo(account.creations()[0] ?? 0, 10, 0.3)
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

/** The events of an upload in requests of 1,000 bytes with a budget. */
const within = (http: HttpClient.HttpClient, budget: Budget.Options) => {
  const options = { finishTimeout: "5 seconds", chunkSize: 1000, maxRetries: 1 } as const
  const run = Idle.passTime(Effect.provide(upload(http, 3000, options), Budget.layer(budget)))
  return Effect.map(run, ({ value }) => Array.from(value))
}

describe("an upload with a budget", () => {
  it.effect("waits longer for a request than a request may stall, and tells it", function* () {
    const { http, requests } = MemoryTus.make()
    const events = yield* within(http, { requests: 1 })
    assert.isFalse(events.some(UploadEvent.$is("Retrying")))
    assert.isTrue(events.some(UploadEvent.$is("Completed")))
    const waits = events.filter(UploadEvent.$is("Waiting"))
    assert.lengthOf(waits, requests.length - 1)
    assert.deepInclude(waits[0], { reason: "the service limits the requests of the account" })
    for (const [index, { millis }] of requests.entries()) assert.isAtLeast(millis, index * 10_000)
  })

  it.effect("waits two hours after a 429 that names them, without a failed attempt", function* () {
    const limit = new Response("", { status: 429, headers: { "retry-after": "7200" } })
    const { http, requests } = MemoryTus.make({ refuse: (index) => (index === 1 ? limit : undefined) })
    const events = yield* within(http, {})
    assert.isTrue(events.some(UploadEvent.$is("Completed")))
    const [, refused = 0, next = 0] = requests.map(({ millis }) => millis)
    assert.isAtLeast(next - refused, 7_200_000)
  })

  it.effect(
    "an upload has maxRetries for the failures after an acknowledged body, whatever 429 came before it",
    function* () {
      const limit = new Response("", { status: 429, headers: { "retry-after": "1" } })
      const away = Array.from({ length: 9 }, () => new Response("", { status: 503 }))
      const answers = [undefined, limit, undefined, undefined, ...away]
      const { http, requests } = MemoryTus.make({ refuse: (index) => answers[index] })
      yield* Effect.flip(within(http, {}))
      assert.deepStrictEqual(Tests.pluck(requests, "method"), ["POST", "PATCH", "HEAD", "PATCH", "PATCH", "HEAD"])
    }
  )
})

describe("jobs with a budget", () => {
  const job = (row: number) => ({
    data: row,
    params: { steps: { ":original": { robot: "/upload/handle" } } },
    files: [{ source: UploadSource.fromBytes(new Uint8Array(5)), filename: "a" }],
    wait: { interval: "1 second", maxInterval: "1 second" } as const
  })

  const budgeted = (account: ReturnType<typeof Account.make>, options?: Budget.Options) =>
    Effect.provide(Layer.provideMerge(account.layer, Budget.layer(options)))

  it.effect.each([
    ["the creation of an Assembly", "/assemblies"],
    ["the creation of an upload", "/resumable/files/"]
  ] as const)(
    "429 with an hour for %s: no job creates an Assembly for an hour, and no job fails",
    function* ([, path]) {
      const account = Account.make(path)
      const jobs = Stream.range(0, 9).pipe(Stream.map(job), Stream.rechunk(1))
      const { value: outcomes } = yield* AssemblyUpload.batch(jobs, { assemblies: 2 }).pipe(
        Stream.runCollect,
        budgeted(account),
        Idle.passTime
      )
      assert.deepStrictEqual(new Set(outcomes.map(({ _tag }) => _tag)), new Set(["Completed"]))
      const creations = account.creations()
      const refused = account.requests.filter(
        ({ method, path: asked }) => method === "POST" && asked.startsWith(path)
      )[1]
      const later = creations.filter((at) => at > (refused?.second ?? Infinity))
      assert.isAtLeast(later.length, 7)
      assert.isAtLeast(Math.min(...later) - (refused?.second ?? 0), 3600)
    }
  )

  it.effect("12 jobs at once, 3 of which may run: 3 run, the others wait, and tell it", function* () {
    const account = Account.make()
    const jobs = Array.from({ length: 12 }, (_, row) => Stream.runCollect(AssemblyUpload.events(job(row))))
    const events = Effect.all(jobs, { concurrency: "unbounded" })
    const { seconds, value } = yield* Idle.passTime(budgeted(account, { running: 3 })(events))
    assert.strictEqual(account.mostRunning(), 3)
    assert.isAtLeast(seconds, 400)
    const told = value.map((all) => all.some(AssemblyUploadEvent.$is("Waiting")))
    assert.lengthOf(told.filter(Boolean), 9)
  })

  it.effect("a job that is interrupted leaves its place until its Assembly has ended", function* () {
    const account = Account.make()
    const program = Effect.gen(function* () {
      yield* Effect.timeoutOption(AssemblyUpload.run(job(1)), "10 seconds")
      yield* AssemblyUpload.run(job(2))
    })
    yield* Idle.passTime(budgeted(account, { running: 1 })(program))
    assert.strictEqual(account.mostRunning(), 1)
    assert.isAtMost(account.creations()[1] ?? Infinity, 190)
  })
})
