import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as RcMap from "effect/RcMap"
import * as Stream from "effect/Stream"
import type { StorageFailed } from "../../EmulatorError.ts"

/**
 * A live update of an Assembly (beyond the specification). If `event` is undefined, `data` is the name of the update.
 */
export interface Update {
  readonly assemblyId: string
  readonly event: string | undefined
  readonly data: string
  /** Whether this is the last update of the Assembly. */
  readonly isLast: boolean
}

const bare = (name: string, isLast: boolean) => (assemblyId: string) => ({
  assemblyId,
  event: undefined,
  data: name,
  isLast
})

const payload = (assemblyId: string, event: string, data: unknown): Update => ({
  assemblyId,
  event,
  data: JSON.stringify(data),
  isLast: false
})

export const uploadingFinished = bare("assembly_uploading_finished", false)
export const metaDataExtracted = bare("assembly_upload_meta_data_extracted", false)
export const finished = bare("assembly_finished", true)

export const uploadFinished = (assemblyId: string, file: Assembly.File) =>
  payload(assemblyId, "assembly_upload_finished", file)

export const resultFinished = (assemblyId: string, step: string, file: Assembly.File) =>
  payload(assemblyId, "assembly_result_finished", [step, file])

/** `percent` is 0 to 100. */
export const progressed = (assemblyId: string, percent: number) =>
  payload(assemblyId, "assembly_execution_progress", { progress_combined: percent })

export const failed = (
  assemblyId: string,
  { error, message }: { readonly error: string; readonly message: string }
): Update => ({ ...payload(assemblyId, "assembly_error", { assembly_id: assemblyId, error, message }), isLast: true })

/**
 * Each followed Assembly has its own channel. If a follower does not read, its buffer grows, but only by the updates of
 * one Assembly. The limits of uploads and results also limit the number of these updates.
 */
const make = Effect.gen(function* () {
  const channels = yield* RcMap.make({ lookup: (_assemblyId: string) => PubSub.unbounded<Update>() })

  return {
    publish: Effect.fnUntraced(function* (update: Update) {
      if (!(yield* RcMap.has(channels, update.assemblyId))) return
      yield* PubSub.publish(yield* RcMap.get(channels, update.assemblyId), update)
    }, Effect.scoped),
    /**
     * Returns the updates from now until the Assembly ends. `end` is the last update if the Assembly has ended. `end` is
     * evaluated after the subscription, so that the stream ends even if the Assembly ended before the subscription.
     */
    follow: (assemblyId: string, end: Effect.Effect<Update | undefined, StorageFailed>) =>
      Stream.unwrap(
        Effect.gen(function* () {
          const subscription = yield* Effect.flatMap(RcMap.get(channels, assemblyId), PubSub.subscribe)
          const last = yield* end
          if (last !== undefined) return Stream.succeed(last)
          return Stream.takeUntil(Stream.fromSubscription(subscription), ({ isLast }) => isLast)
        })
      )
  }
})

/** Sends live updates to the followers of an Assembly: the clients that read its live updates. */
export class Updates extends Context.Service<Updates>()("@assembly-effect/emulator/Updates", { make }) {}

export const layer = Layer.effect(Updates, Updates.make)
