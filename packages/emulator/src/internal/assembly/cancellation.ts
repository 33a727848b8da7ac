import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Execution from "./execution.ts"
import * as UploadLocks from "../tus/uploadLocks.ts"
import * as UploadStore from "../files/uploadStore.ts"

const make = Effect.gen(function* () {
  const execution = yield* Execution.Execution
  const locks = yield* UploadLocks.UploadLocks
  const uploads = yield* UploadStore.UploadStore

  return {
    /**
     * Cancels a busy Assembly, and stops requests that append to its ordinary tus uploads. Requests that append to its
     * partial uploads, and the request with its form, are not stopped. An Assembly that has ended stays unchanged.
     */
    cancel: Effect.fnUntraced(function* (id: string) {
      yield* execution.stop(id, "canceled")
      // Taking the lock of an upload asks the request that holds the lock to stop. The next request that appends to
      // this upload is refused, because the Assembly has ended.
      const unfinished = (yield* uploads.ofAssembly(id)).filter(({ finished_at }) => finished_at === null)
      yield* Effect.forEach(unfinished, (upload) => locks.hold(upload.id, () => Effect.void))
    }, Effect.uninterruptible)
  }
})

/** Cancels Assemblies. */
export class Cancellation extends Context.Service<Cancellation>()("@assembly-effect/emulator/Cancellation", { make }) {}

export const layer = Layer.effect(Cancellation, Cancellation.make)
