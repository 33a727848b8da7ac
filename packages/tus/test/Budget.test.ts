/**
 * Uploads and jobs that wait for the budget of their account: a wait is no stall, no failure, and is told.
 */
import * as Budget from "@assembly-effect/api/Budget"
import { AssemblyUploadEvent, UploadEvent, UploadSource } from "@assembly-effect/tus"
import { Effect, Layer, Stream } from "effect"
import { HttpClient } from "effect/http"
import { assert, describe, it, Account, AssemblyUpload, Idle, MemoryTus, Scene, Upload } from "./utils/index.ts"

/** The events of an upload in requests of 1,000 bytes, run to its end on the TestClock. */
const upload = (http: HttpClient.HttpClient, options: Budget.Options) =>
  Effect.gen(function* () {
    const target = yield* Scene.targetAt("https://tus.example.com")
    const limits = { ...Scene.options, stallTimeout: "5 seconds", finishTimeout: "5 seconds", chunkSize: 1000 } as const
    const events = Upload.events(target, UploadSource.fromBytes(Scene.content(3000)), {
      ...limits,
      maxRetries: 1
    }).pipe(
      Stream.runCollect,
      Effect.provide(Budget.layer(options)),
      Effect.provideService(HttpClient.HttpClient, http)
    )
    return Array.from((yield* Idle.passTime(events)).value)
  })

describe("an upload with a budget", () => {
  it.effect("waits longer for a request than a request may stall, and tells it", function* () {
    const { http, requests } = MemoryTus.make()
    const events = yield* upload(http, { requests: 1 })
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
    const events = yield* upload(http, {})
    assert.isTrue(events.some(UploadEvent.$is("Completed")))
    const [, refused = 0, next = 0] = requests.map(({ millis }) => millis)
    assert.isAtLeast(next - refused, 7_200_000)
  })
})

describe("jobs with a budget", () => {
  const job = (row: number) => ({
    data: row,
    params: { steps: { ":original": { robot: "/upload/handle" } } },
    files: [{ source: UploadSource.fromBytes(new Uint8Array(5)), filename: "a" }],
    wait: { interval: "1 second", maxInterval: "1 second" } as const
  })

  const within = (account: ReturnType<typeof Account.make>, options?: Budget.Options) =>
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
        within(account),
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
    const { seconds, value } = yield* Idle.passTime(within(account, { running: 3 })(events))
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
    yield* Idle.passTime(within(account, { running: 1 })(program))
    assert.strictEqual(account.mostRunning(), 1)
    assert.isAtMost(account.creations()[1] ?? Infinity, 190)
  })
})
