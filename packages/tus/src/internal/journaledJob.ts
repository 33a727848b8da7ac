/**
 * A job whose Assembly and uploads are in the journal: starts the job, or continues the job of an earlier run.
 */
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as UploadJournal from "./journal.ts"
import type * as AssemblyFiles from "./assemblyFiles.ts"
import * as AssemblyJob from "./assemblyJob.ts"
import * as AssemblyOptions from "./assemblyOptions.ts"
import * as Events from "./events.ts"
import * as Hold from "./hold.ts"
import type { Options } from "./job.ts"
import * as Journaled from "./journaled.ts"
import * as JournalKey from "./journalKey.ts"
import * as Telemetry from "./telemetry.ts"
import type { Replayable } from "./source.ts"

/** The sources of a job with a journal were checked, see `prepare`. */
const uploadOne: AssemblyFiles.UploadOne<HttpClient.HttpClient | UploadJournal.UploadJournal> = (
  target,
  source,
  upload,
  file,
  emit
) =>
  Telemetry.observe(source, emit, (tell) =>
    source._tag === "Replayable"
      ? Effect.scoped(
          UploadJournal.UploadJournal.use((journal) =>
            Journaled.start(journal, target, source, { ...upload, file }, tell)
          )
        )
      : Effect.die(new Error("a one-shot stream was not refused"))
  )

const encodeParams = Input.encoder(Assembly.CreateParams)

/** The key of a job. Two runs with the same service, params and files have the same key. */
const keyOf = <R>({ files, params }: Options<R>, sources: ReadonlyArray<Replayable>) =>
  Effect.gen(function* () {
    const { origins } = yield* AssemblyClient
    const { assemblyId, ...rest } = params
    const encoded = yield* Effect.mapError(
      Effect.fromResult(encodeParams(rest)),
      (issues) => new InvalidRequest({ operation: "AssemblyUpload", issues })
    )
    const identities = yield* Effect.forEach(sources, Journaled.identify)
    return yield* JournalKey.assemblyKeyOf([
      origins.entries[0] ?? "",
      assemblyId ?? null,
      encoded,
      files.map(({ fieldname = "file", filename, metadata = {} }, file) => [
        filename,
        fieldname,
        metadata,
        String(sources[file]?.size),
        identities[file] ?? null
      ])
    ])
  })

/** A job whose options are valid, with its open sources and its key in the journal. */
export interface Prepared<R> {
  readonly options: Options<R>
  readonly sources: ReadonlyArray<Replayable>
  readonly key: string
}

export const prepare = <R>(options: Options<R>) =>
  Effect.gen(function* () {
    const opened = yield* AssemblyOptions.prepare(options, true)
    const sources = opened.flatMap((source) => (source._tag === "Replayable" ? [source] : []))
    return { options, sources, key: yield* keyOf(options, sources) } satisfies Prepared<R>
  })

/** The entry of the Assembly of the job, if an earlier run has seen that the Assembly has completed. */
export const completed = ({ key }: { readonly key: string }) =>
  Effect.gen(function* () {
    const { assemblies } = yield* UploadJournal.UploadJournal
    return Option.filter(yield* assemblies.get(key), ({ _tag }) => _tag === "Completed")
  })

/** Opens a job that shares an Assembly. Only its completion is in the journal. */
export const open = <R>(options: Options<R>) =>
  Effect.gen(function* () {
    const { assemblies } = yield* UploadJournal.UploadJournal
    const prepared = yield* prepare(options)
    return {
      sources: prepared.sources,
      isDone: Option.isSome(yield* completed(prepared)),
      completed: (assemblyId: Assembly.AssemblyId) =>
        Effect.flatMap(Clock.currentTimeMillis, (writtenAt) =>
          Effect.ignore(assemblies.put(prepared.key, { _tag: "Completed", assemblyId, writtenAt }))
        )
    }
  })

/** Acquires the lease of the job, and runs the job to its end. */
export const run = <R>({ key, options, sources }: Prepared<R>, emit: AssemblyFiles.Emit) =>
  Effect.gen(function* () {
    const journal = yield* UploadJournal.UploadJournal
    const { assemblies } = journal
    const tell = yield* Events.paced(emit, options.progressInterval)
    const lease = yield* Hold.hold(journal, key, tell)
    const job = Effect.gen(function* () {
      const store: AssemblyJob.Store = {
        found: Option.getOrUndefined(yield* assemblies.get(key)),
        record: (_tag, about) =>
          Effect.andThen(
            lease.check,
            Effect.flatMap(Clock.currentTimeMillis, (writtenAt) => assemblies.put(key, { ...about, _tag, writtenAt }))
          ),
        forget: Effect.andThen(lease.check, assemblies.forget(key))
      }
      const { onFailure = "keep" } = options
      return yield* AssemblyJob.run({ options: { ...options, onFailure }, sources, store, uploadOne, emit: tell })
    })
    return yield* Hold.during(lease, job)
  }).pipe(Effect.scoped)
