/** Objects that are read at presigned URLs, and how many are read at the same time. */
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { UploadSource } from "@assembly-effect/tus"
import { Durable, DurableJob, ObjectStores } from "@assembly-effect/workflow"
import { Effect, Stream } from "effect"
import { SourceFailed } from "@assembly-effect/tus/UploadSource"
import { assert } from "@assembly-effect/testkit/flow"
import { randomBytes } from "node:crypto"
import { durableTests } from "./running.ts"
import { job, sha256, storedIn, withRunner } from "./support.ts"

/** An object store with one object. `refused` are the numbers of the signatures that it refuses. */
const objectStore = Effect.fnUntraced(function* (refused: ReadonlyArray<number>, etag: string | undefined) {
  const bytes = randomBytes(700_000)
  let signatures = 0
  const origin = yield* Loopback.serve((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost")
    const [, start = "0", end] = /^bytes=(\d+)-(\d*)$/u.exec(request.headers.range ?? "") ?? []
    if (refused.includes(Number(url.searchParams.get("signature")))) {
      response.writeHead(403).end()
      return
    }
    const last = end === undefined || end === "" ? bytes.length - 1 : Number(end)
    response.writeHead(206, {
      ...(etag === undefined ? undefined : { etag }),
      "accept-ranges": "bytes",
      "content-length": last - Number(start) + 1,
      "content-range": `bytes ${start}-${last}/${bytes.length}`
    })
    response.end(bytes.subarray(Number(start), last + 1))
  })
  return {
    sha256: sha256(bytes),
    signatures: () => signatures,
    layer: ObjectStores.layer({
      store: ObjectStores.presigned((key) =>
        key === "missing"
          ? Effect.fail(new SourceFailed({ kind: "Unreadable", description: "the object is missing" }))
          : Effect.sync(() => `${origin}/${key}?signature=${++signatures}`)
      )
    })
  }
})

const file = (key: string) => ({ source: DurableJob.object("store", key), filename: "a.bin" })

durableTests("An object store", (it) => {
  it.alone("is asked for another address if that of a queued job works no more", function* ({ database }) {
    // `start` presigns the first URL, and the first try of the upload presigns the second.
    const store = yield* objectStore([2], '"one"')
    const status = yield* Durable.run(job("object", [], { files: [file("video")] })).pipe(
      withRunner(database),
      Effect.provide(store.layer)
    )
    assert.deepStrictEqual(storedIn(status), [store.sha256])
    assert.strictEqual(store.signatures(), 3)
  })

  it.alone("that cannot tell whether an object has changed is refused, or has none", function* ({ database }) {
    const store = yield* objectStore([], undefined)
    yield* Effect.gen(function* () {
      for (const key of ["video", "missing"]) {
        const error = yield* Effect.flip(Durable.start(job(key, [], { files: [file(key)] })))
        assert.deepInclude(error, { _tag: "SourceFailed", kind: "Unreadable" })
      }
    }).pipe(withRunner(database), Effect.provide(store.layer))
  })
})

durableTests("The places of a runner", (it) => {
  for (const uploads of [1, 2]) {
    it.alone(`let ${uploads} files be sent at the same time, also those of one job`, function* ({ database }) {
      let now = 0
      let most = 0
      const whole = UploadSource.fromBytes(new Uint8Array(1000))
      const stores = ObjectStores.layer({
        counted: (key) =>
          Effect.succeed({
            _tag: "Replayable" as const,
            size: whole.size,
            identity: Effect.succeed(key),
            bytes: (start, end) =>
              Stream.unwrap(
                Effect.gen(function* () {
                  yield* Effect.acquireRelease(
                    Effect.sync(() => {
                      most = Math.max(most, ++now)
                    }),
                    () => Effect.sync(() => now--)
                  )
                  // As many as may be read at the same time are waited for, and then a file too many has time to begin.
                  yield* Effect.yieldNow.pipe(Effect.repeat({ until: () => most >= uploads }))
                  yield* Effect.sleep("50 millis")
                  return whole.bytes(start, end)
                })
              )
          })
      })
      const files = Array.from({ length: 6 }, (_, index) => ({
        source: DurableJob.object("counted", `${index}`),
        filename: `${index}.bin`
      }))
      const status = yield* Durable.run(job("many", [], { files })).pipe(
        withRunner(database, { uploads }),
        Effect.provide(stores)
      )
      assert.deepInclude(status, { started_tus_uploads: 6, finished_tus_uploads: 6 })
      assert.strictEqual(most, uploads)
    })
  }
})
