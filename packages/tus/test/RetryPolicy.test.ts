/**
 * The retry policies of operations, at uploads: what a call says comes before what the options describe.
 */
import { RetryPolicy } from "@assembly-effect/api"
import { UploadSource } from "@assembly-effect/tus"
import { Duration, Effect, Layer, Option, Schedule, Stream } from "effect"
import { assert, layerTest, Clients, Scene, ScriptedTus, Upload } from "./utils/index.ts"

const { metadata } = Scene.options
const source = UploadSource.fromBytes(Scene.content(300_000))

/** A server that refuses requests of these kinds. */
const refusing = (methods: ReadonlyArray<string>, status = 503, headers: Readonly<Record<string, string>> = {}) =>
  Effect.map(ScriptedTus.make, (server) => {
    server.meet = (request, go) => (methods.includes(request.method) ? { status, headers } : go())
    return server
  })

const questions = (server: ScriptedTus.ScriptedTus) => ScriptedTus.count(server, "HEAD")

/** How often a policy decides that a failure is retried, where it has no pauses. */
const recurs = (times: number) => RetryPolicy.withPolicy(Schedule.recurs(times))

/** What a policy is told, and lets an upload heal from. */
const recording = (failures: Array<RetryPolicy.Failure>, times: number) =>
  Schedule.forever.pipe(
    Schedule.setInputType<RetryPolicy.Failure>(),
    Schedule.while(({ input }) => Effect.sync(() => failures.push(input) <= times))
  )

layerTest(Clients.undici)("An upload whose call has a policy", (it) => {
  it.effect("is not retried with none", function* () {
    for (const [method, status, more, requests] of [
      ["PATCH", 503, {}, ["POST", "PATCH"]],
      ["POST", 429, {}, ["POST"]],
      ["OPTIONS", 503, { checksum: "sha1" }, ["OPTIONS"]]
    ] as const) {
      const server = yield* refusing([method], status)
      yield* Effect.flip(Upload.run(server.target, source, { metadata, retryDelay: 0, ...more }).pipe(RetryPolicy.none))
      assert.deepStrictEqual(server.requests, requests)
    }
  })

  it.effect("is retried as a Schedule says, as a Stream too, and by a Layer", function* () {
    const server = yield* refusing(["PATCH", "HEAD"])
    yield* Effect.flip(Upload.run(server.target, source, { metadata }).pipe(recurs(3)))
    assert.strictEqual(questions(server), 3)

    const streamed = yield* refusing(["PATCH", "HEAD"])
    yield* Effect.flip(Stream.runDrain(recurs(2)(Upload.events(streamed.target, source, { metadata }))))
    assert.strictEqual(questions(streamed), 2)

    const layered = yield* refusing(["PATCH", "HEAD"])
    const policy = Layer.succeed(RetryPolicy.RetryPolicy, RetryPolicy.make({ retries: 1, base: 0 }))
    yield* Effect.flip(Upload.run(layered.target, source, { metadata }).pipe(Effect.provide(policy)))
    assert.strictEqual(questions(layered), 1)
  })

  it.effect("begins the Schedule anew after progress", function* () {
    // A busy server may have stored nothing of a request that is cut, so each cut comes after an acknowledged one.
    const { server, target } = yield* Scene.make(
      [1, 2, 3].flatMap(() => [
        { _tag: "SlowAnswer", method: "PATCH", millis: 0 } as const,
        { _tag: "Cut", method: "PATCH", bytes: 20_000 } as const
      ])
    )
    const { length } = yield* Upload.run(target, source, { metadata, chunkSize: 50_000 }).pipe(recurs(1))
    assert.strictEqual(length, 300_000n)
    assert.strictEqual(server.faults.length, 0)
  })

  it.effect("tells the policy what failed, and how long the server asks to wait", function* () {
    const failures: Array<RetryPolicy.Failure> = []
    const told = (server: ScriptedTus.ScriptedTus, times: number) =>
      Effect.flip(
        Upload.run(server.target, source, { metadata }).pipe(RetryPolicy.withPolicy(recording(failures, times)))
      )
    yield* told(yield* refusing(["PATCH"]), 1)
    yield* told(yield* refusing(["PATCH"], 503, { "retry-after": "30" }), 1)
    const said = { operation: "Upload", retry: "resumes" as const }
    assert.deepStrictEqual(
      failures.map(({ error, ...others }) => [others, error._tag, error.status]),
      [
        [{ ...said, failures: 1, wait: Option.none() }, "ServerFailure", 503],
        [{ ...said, failures: 2, wait: Option.none() }, "ServerFailure", 503],
        [{ ...said, failures: 1, wait: Option.some(Duration.seconds(30)) }, "ServerFailure", 503]
      ]
    )
  })

  it.effect("asks no policy about a failure that cannot heal", function* () {
    const failures: Array<RetryPolicy.Failure> = []
    const server = yield* refusing(["PATCH"], 403)
    const error = yield* Effect.flip(
      Upload.run(server.target, source, { metadata }).pipe(RetryPolicy.withPolicy(recording(failures, 5)))
    )
    assert.strictEqual(error._tag, "UploadRefused")
    assert.deepStrictEqual(failures, [])
    assert.isFalse(RetryPolicy.isRetryable({ retry: "resumes", error: { _tag: "TransportFailure", permanent: true } }))
  })

  it.effect("keeps within the maxRetries and maxWait of its options", function* () {
    const server = yield* refusing(["PATCH", "HEAD"])
    yield* Effect.flip(Upload.run(server.target, source, { metadata, maxRetries: 2 }).pipe(recurs(9)))
    assert.strictEqual(questions(server), 2)

    const waiting = yield* refusing(["PATCH"], 503, { "retry-after": "30" })
    const upload = Upload.run(waiting.target, source, { metadata, maxWait: "29 seconds" })
    assert.deepInclude(yield* Effect.flip(upload.pipe(recurs(9))), { retryAfter: Duration.seconds(30) })
    assert.deepStrictEqual(waiting.requests, ["POST", "PATCH"])
  })
})
