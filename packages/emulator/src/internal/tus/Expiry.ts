import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as FileStore from "../files/FileStore.ts"
import * as UploadStore from "../files/UploadStore.ts"
import * as UploadLocks from "./UploadLocks.ts"

/**
 * How long an upload lasts (tus 1.0.0, "Expiration"): what is not finished by then, or is a part, is gone and its bytes
 * with it. A part is only there to be put together.
 */
export class Expiry extends Context.Service<
  Expiry,
  {
    /** When the upload is gone; undefined where it stays. */
    readonly of: (upload: UploadStore.Row) => DateTime.Utc | undefined
    readonly isOver: (upload: UploadStore.Row) => Effect.Effect<boolean>
  }
>()("@assembly-effect/emulator/tus/Expiry") {}

/** How long the bytes of uploads that are gone may stay. */
const pauseFor = Duration.clamp({ minimum: Duration.seconds(1), maximum: Duration.hours(1) })

const make = Effect.fnUntraced(function* (lifetime: Duration.Duration) {
  const files = yield* FileStore.FileStore
  const locks = yield* UploadLocks.UploadLocks
  const uploads = yield* UploadStore.UploadStore

  const limit = Effect.map(DateTime.now, (now) => DateTime.subtractDuration(now, lifetime).epochMilliseconds)

  // Nobody asks yet, so that what belongs to no upload is nothing that just begins.
  const kept = new Set(yield* Effect.flatMap(limit, uploads.kept))
  yield* Effect.forEach(yield* files.names, (name) => (kept.has(name) ? Effect.void : files.remove(name)))

  const sweep = Effect.flatMap(limit, uploads.expired).pipe(
    Effect.flatMap(Effect.forEach((id) => locks.hold(id, () => files.remove(id)), { discard: true })),
    Effect.catch(({ message }) => Effect.logError(`Expired uploads were not removed: ${message}`)),
    Effect.catchDefect((defect) => Effect.logError("Expired uploads were not removed", defect))
  )
  yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(pauseFor(lifetime))))

  const of = ({ created_at, finished_at, kind }: UploadStore.Row) =>
    finished_at === null || kind === "partial"
      ? DateTime.addDuration(DateTime.makeUnsafe(created_at), lifetime)
      : undefined

  return Expiry.of({
    of,
    isOver: Effect.fnUntraced(function* (upload) {
      const end = of(upload)
      return end !== undefined && DateTime.isLessThan(end, yield* DateTime.now)
    })
  })
})

export const layer = (
  lifetime: Duration.Duration
): Layer.Layer<Expiry, StorageFailed, FileStore.FileStore | UploadLocks.UploadLocks | UploadStore.UploadStore> =>
  Layer.effect(Expiry, make(lifetime))
