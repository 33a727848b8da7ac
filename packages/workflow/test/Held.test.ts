/** A runner that does not surely have a job: it sends nothing of the job, and records nothing about it. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Durable from "@assembly-effect/workflow/Durable"
import * as DurableJob from "@assembly-effect/workflow/DurableJob"
import * as ObjectStores from "@assembly-effect/workflow/ObjectStores"
import { assert, layer } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Stream from "effect/Stream"
import * as Lease from "../src/internal/lease.ts"
import { gated } from "./gates.ts"
import { folder, job, live, storedIn, withRunner } from "./support.ts"

/** A lease that the test takes away. `asked` completes when somebody asks for it while it is away. */
const lease = Effect.gen(function* () {
  const latch = yield* Latch.make(true)
  const asked = yield* Deferred.make<void>()
  let isAway = false
  let rest = Infinity
  const lose = Effect.suspend(() => {
    isAway = true
    return latch.close
  })
  const held = Effect.suspend(() => {
    const ask = isAway ? Deferred.succeed(asked, undefined) : Effect.void
    return Effect.andThen(ask, latch.await)
  })
  return {
    lose,
    asked: Deferred.await(asked),
    /** Loses the lease after it has been confirmed a few times. */
    loseAfter: (times: number) => {
      rest = times
    },
    regain: Effect.suspend(() => {
      isAway = false
      rest = Infinity
      return latch.open
    }),
    service: { held: () => Effect.suspend(() => (rest-- > 0 ? held : Effect.andThen(lose, held))) }
  }
})

/** The number of uploads of the Assembly that waits for its files. */
const uploads = Effect.gen(function* () {
  const [one] = yield* Stream.runCollect(Assemblies.listAll({ fromDate: DateTime.makeUnsafe(0), type: "uploading" }))
  const status = yield* Assemblies.get(one?.id as Parameters<typeof Assemblies.get>[0])
  return status["started_tus_uploads"]
})

layer(live, { excludeTestServices: true })("A runner that may have lost a job", (it) => {
  it.effect("gives no further piece of a file", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      const gate = yield* gated
      const { asked, lose, regain, service } = yield* lease
      yield* Effect.gen(function* () {
        yield* Durable.start(job("piece", [], { files: [gate.file("piece")] }))
        yield* gate.reached
        yield* lose
        yield* gate.open
        yield* Effect.raceFirst(asked, Durable.await("piece"))
        assert.isAtMost(Number((yield* Durable.status("piece")).stored), gate.size / 2)
        yield* regain
        assert.deepStrictEqual(storedIn(yield* Durable.await("piece")), [gate.sha256])
      }).pipe(withRunner(database), Effect.provide(gate.layer), Effect.provideService(Lease.Lease, service))
    })
  )

  it.effect("sends no further request", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      const gate = yield* gated
      const { asked, loseAfter, regain, service } = yield* lease
      yield* gate.open
      // Before the attempt begins, and before its Assembly is created. The next is the creation of the upload.
      loseAfter(2)
      yield* Effect.gen(function* () {
        yield* Durable.start(job("request", [], { files: [gate.file("request")] }))
        yield* asked
        assert.strictEqual(yield* uploads, 0)
        yield* regain
        assert.deepStrictEqual(storedIn(yield* Durable.await("request")), [gate.sha256])
      }).pipe(withRunner(database), Effect.provide(gate.layer), Effect.provideService(Lease.Lease, service))
    })
  )

  it.effect("does not say that the job failed", () =>
    Effect.gen(function* () {
      const { database } = yield* folder
      const { asked, lose, regain, service } = yield* lease
      let opens = 0
      const stores = ObjectStores.layer({
        torn: () =>
          opens++ === 0
            ? Effect.succeed({ ...UploadSource.fromBytes(new Uint8Array(8)), identity: Effect.succeed("1") })
            : Effect.andThen(
                lose,
                Effect.fail(
                  new UploadSource.SourceFailed({ kind: "Changed", description: "the object is another one" })
                )
              )
      })
      const files = [{ source: DurableJob.object("torn", "a"), filename: "a.bin" }]
      yield* Effect.gen(function* () {
        yield* Durable.start(job("failing", [], { files }))
        yield* Effect.raceFirst(asked, Effect.exit(Durable.await("failing")))
        assert.deepInclude(yield* Durable.status("failing"), { state: "Uploading", failure: undefined })
        yield* regain
        assert.strictEqual((yield* Effect.flip(Durable.await("failing")))._tag, "JobFailed")
      }).pipe(withRunner(database), Effect.provide(stores), Effect.provideService(Lease.Lease, service))
    })
  )
})
