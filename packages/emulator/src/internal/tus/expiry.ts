import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as FileStore from "../files/fileStore.ts"
import * as UploadStore from "../files/uploadStore.ts"
import * as UploadLocks from "./uploadLocks.ts"

/**
 * The interval between two removals of expired bytes: the lifetime of an upload, but at least a second and at most an
 * hour.
 */
const pauseFor = Duration.clamp({ minimum: Duration.seconds(1), maximum: Duration.hours(1) })

const make = Effect.fnUntraced(function* (lifetime: Duration.Duration) {
  const files = yield* FileStore.FileStore
  const locks = yield* UploadLocks.UploadLocks
  const uploads = yield* UploadStore.make

  const limit = Effect.map(DateTime.now, (now) => DateTime.subtractDuration(now, lifetime).epochMilliseconds)

  // At the start, removes every file that is not the blob of an upload in `kept`. No new upload can lose its file,
  // because no request creates an upload yet.
  const kept = new Set(yield* Effect.flatMap(limit, uploads.kept))
  yield* Effect.forEach(yield* files.names, (name) => (kept.has(name) ? Effect.void : files.remove(name)))

  const sweep = Effect.flatMap(limit, uploads.expired).pipe(
    Effect.flatMap(Effect.forEach((id) => locks.hold(id, () => files.remove(id)), { discard: true })),
    Effect.catch(({ message }) => Effect.logError(`Expired uploads were not removed: ${message}`)),
    Effect.catchDefect((defect) => Effect.logError("Expired uploads were not removed", defect))
  )
  yield* Effect.forkScoped(Effect.repeat(sweep, Schedule.spaced(pauseFor(lifetime))))

  /** The time when the upload expires. The result is undefined if the upload never expires. */
  const of = ({ created_at, finished_at, kind }: UploadStore.Row) =>
    finished_at === null || kind === "partial"
      ? DateTime.addDuration(DateTime.makeUnsafe(created_at), lifetime)
      : undefined

  return {
    of,
    isOver: Effect.fnUntraced(function* (upload: UploadStore.Row) {
      const end = of(upload)
      return end !== undefined && DateTime.isLessThan(end, yield* DateTime.now)
    })
  }
})

/**
 * Expires uploads (tus 1.0.0, "Expiration"). Unfinished uploads and all partial uploads expire, and their bytes are
 * removed. A partial upload is needed only until its concatenation.
 */
export class Expiry extends Context.Service<Expiry>()("@assembly-effect/emulator/tus/Expiry", { make }) {}

export const layer = (lifetime: Duration.Duration) => Layer.effect(Expiry, make(lifetime))
