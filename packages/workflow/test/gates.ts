/** An object store whose objects stop in the middle until a test lets them continue. */
import { UploadSource } from "@assembly-effect/tus"
import { Durable, DurableJob, ObjectStores } from "@assembly-effect/workflow"
import { Deferred, Effect, Stream } from "effect"
import { job, sha256 } from "./support.ts"

/** The size of each gated object. It is too large to be sent with its creation. */
const size = 700_000

/**
 * An object store `gated`. Each object stops after its first half.
 *
 * - `reached`: completes when the first half of any object was read.
 * - `stopped`: completes when a reader stopped before its end. `isStopped`: whether one has.
 * - `open`: lets every object continue.
 * - `job`: a job with one object. `begin`: starts it, and waits until the first half of an object was read.
 */
export const gated = Effect.gen(function* () {
  const bytes = Uint8Array.from({ length: size }, (_, index) => (index * 7919) >> 3)
  const reached = yield* Deferred.make<void>()
  const stopped = yield* Deferred.make<void>()
  const gate = yield* Deferred.make<void>()
  let version = 1
  const source = (key: string): UploadSource.Replayable => {
    const whole = UploadSource.fromBytes(bytes)
    return {
      _tag: "Replayable",
      size: whole.size,
      identity: Effect.succeed(`${key} ${version}`),
      bytes: (start, end) => {
        const half = whole.size / 2n
        if (start >= half) return Stream.unwrap(Effect.as(Deferred.await(gate), whole.bytes(start, end)))
        const rest = Deferred.succeed(reached, undefined).pipe(
          Effect.andThen(Deferred.await(gate)),
          Effect.onInterrupt(() => Deferred.succeed(stopped, undefined)),
          Effect.as(whole.bytes(half, end))
        )
        return Stream.concat(whole.bytes(start, half), Stream.unwrap(rest))
      }
    }
  }
  const file = (key: string): DurableJob.File => ({ source: DurableJob.object("gated", key), filename: `${key}.bin` })
  const one = (key: string) => job(key, [], { files: [file(key)] })
  return {
    layer: ObjectStores.layer({ gated: (key) => Effect.sync(() => source(key)) }),
    sha256: sha256(bytes),
    size,
    reached: Deferred.await(reached),
    stopped: Deferred.await(stopped),
    isStopped: Deferred.isDone(stopped),
    open: Effect.asVoid(Deferred.succeed(gate, undefined)),
    /** Gives every object another identity. */
    change: Effect.sync(() => {
      version++
    }),
    file,
    job: one,
    begin: (key: string) => Effect.andThen(Durable.start(one(key)), Deferred.await(reached))
  }
})
