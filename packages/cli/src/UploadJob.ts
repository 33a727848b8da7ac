/**
 * The job of `assembly upload`, with the events that the command shows.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyUploadEvent from "@assembly-effect/tus/AssemblyUploadEvent"
import type { AssemblyUploadError } from "@assembly-effect/tus/AssemblyUploadError"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ResultFiles from "./internal/resultFiles.ts"
import type { TemplateError } from "./internal/templateId.ts"

/**
 * A Status of the Assembly that was read after the upload of all files: the first Status, or a changed one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Executing {
  readonly _tag: "Executing"
  readonly status: Assembly.Status
}

/**
 * Something that the user should know, such as the end of an earlier Assembly. `message` is the text for the user, in
 * one or a few sentences.
 *
 * @since 0.1.0
 * @category models
 */
export interface Notice {
  readonly _tag: "Notice"
  readonly message: string
}

/**
 * An event of a job: an event of its uploads or of the work of its Assembly, or a notice for the user.
 *
 * @since 0.1.0
 * @category models
 */
export type JobEvent = AssemblyUploadEvent.AssemblyUploadEvent | Executing | Notice

/**
 * The errors of a job.
 *
 * @since 0.1.0
 * @category errors
 */
export type JobError = AssemblyUploadError | TemplateError

/** The pauses between two reads of the Status for the progress. The job itself detects the end of the Assembly. */
const pace = { interval: "2 seconds", maxInterval: "10 seconds" } as const

/**
 * Adds the progress of the Assembly to the events of its job, from the end of the uploads on.
 *
 * @since 0.1.0
 * @category running
 */
export const withWork = <E, R>(job: Stream.Stream<AssemblyUploadEvent.AssemblyUploadEvent, E, R>) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const uploaded = yield* Deferred.make<Assembly.AssemblyId>()
      const work = Stream.unwrap(
        Effect.map(Deferred.await(uploaded), (assemblyId) =>
          Assemblies.watch(assemblyId, pace).pipe(
            Stream.map((status): JobEvent => ({ _tag: "Executing", status })),
            // A failure of this Stream is ignored, because the job reports it.
            Stream.catchCause(() => Stream.empty)
          )
        )
      )
      const events = Stream.tap(job, (event) =>
        event._tag === "Uploaded" ? Deferred.succeed(uploaded, event.assemblyId) : Effect.void
      )
      const merged = Stream.merge(
        Stream.map(events, (event): JobEvent => event),
        work,
        { haltStrategy: "left" }
      )
      // A Status that was read before the event `Completed` may arrive after this event, and is dropped.
      let isCompleted = false
      return Stream.filter(merged, ({ _tag }) => {
        isCompleted ||= _tag === "Completed"
        return _tag !== "Executing" || !isCompleted
      })
    })
  )

/**
 * The progress of an Assembly in words after an event. The result is undefined if the event does not change the
 * progress, and empty if the Assembly has no progress yet.
 *
 * @since 0.1.0
 * @category progress
 */
export const workOf = (event: JobEvent): string | undefined => {
  if (event._tag === "Waiting") return "waiting"
  if (event._tag !== "Executing" && event._tag !== "AssemblyResumed") return undefined
  return ResultFiles.total(event.status) === 0 ? "" : ResultFiles.counted(event.status)
}

const encodeEvent = Schema.encodeEffect(Schema.toCodecJson(AssemblyUploadEvent.Public))

/**
 * A number of bytes in JSON: a number, or a text if JavaScript cannot represent the number exactly.
 *
 * @since 0.1.0
 * @category output
 */
export const toJsonBytes = (bytes: bigint): number | string =>
  bytes <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(bytes) : String(bytes)

/**
 * The numbers of bytes in an event, as JSON numbers if they are safe integers. They replace the texts that the codec of
 * the event makes of these fields.
 */
const bytesOf = (event: object): Readonly<Record<string, number | string>> =>
  Object.fromEntries(
    Object.entries(event).flatMap(([name, value]: [string, unknown]) =>
      typeof value === "bigint" ? [[name, toJsonBytes(value)]] : []
    )
  )

/**
 * An event as records for another program. `names` are the names of the files of the job. Each size in a record is a
 * number of bytes.
 *
 * @since 0.1.0
 * @category output
 */
export const toRecords = (
  event: JobEvent,
  names: ReadonlyArray<string>
): Effect.Effect<ReadonlyArray<Readonly<Record<string, Schema.Json>>>> =>
  Effect.gen(function* () {
    if (event._tag === "Executing") {
      return [
        { event: event._tag, assembly_id: event.status.assembly_id ?? null, results: ResultFiles.total(event.status) }
      ]
    }
    if (event._tag === "Notice") return [{ event: event._tag, message: event.message }]
    // The event `FileCompleted` reports the same completion.
    if (event._tag === "FileEvent" && event.event._tag === "Completed") return []
    const { _tag = "", event: inner, ...fields } = (yield* Effect.orDie(encodeEvent(event))) as Schema.JsonObject
    const { _tag: kind = "", ...details } = (inner ?? {}) as Schema.JsonObject
    return [
      {
        event: event._tag === "FileEvent" ? `File${String(kind)}` : _tag,
        ...("status" in event ? { assembly_id: event.status.assembly_id ?? null } : {}),
        ...("file" in event ? { name: names[event.file] ?? "" } : {}),
        ...fields,
        ...details,
        ...bytesOf(event),
        ...("event" in event ? bytesOf(event.event) : {})
      }
    ]
  })
