/**
 * Prepares jobs, with or without a journal. A job whose Assembly and uploads are in the journal continues the job of an
 * earlier run.
 */
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type { AssemblyUploadError } from "../AssemblyUploadError.ts"
import * as AssemblyFiles from "./assemblyFiles.ts"
import * as AssemblyJob from "./assemblyJob.ts"
import * as Engine from "./engine.ts"
import * as Job from "./job.ts"
import { type AssemblyEntry, assemblyKeyOf, type UploadJournal } from "./journal.ts"
import * as Journaled from "./journaled.ts"
import * as Leasing from "./lease.ts"
import { replayable } from "./options.ts"
import type { Replayable, UploadSource } from "./source.ts"

/** The services of the Layer, which its jobs use. */
export type Services = Context.Context<HttpClient.HttpClient | AssemblyClient>

/**
 * A job whose options are valid, with open sources.
 *
 * - `done`: the entry of its Assembly, if an earlier run has seen that the Assembly has completed.
 * - `completed`: records this for a job that shares an Assembly.
 *
 * @since 0.1.0
 * @category models
 */
export interface Prepared {
  readonly sources: ReadonlyArray<UploadSource>
  readonly completed: (assemblyId: Assembly.AssemblyId) => Effect.Effect<void>
  readonly done: Effect.Effect<AssemblyEntry | undefined, AssemblyUploadError>
  readonly run: (emit: AssemblyFiles.Emit) => Effect.Effect<Assembly.Status, AssemblyUploadError>
}

/**
 * Runs a job whose sources are open, without a journal.
 *
 * @since 0.1.0
 * @category models
 */
export type Send = (
  options: Job.Options<unknown>,
  sources: ReadonlyArray<UploadSource>,
  emit: AssemblyFiles.Emit
) => Effect.Effect<Assembly.Status, AssemblyUploadError>

/**
 * What runs jobs.
 *
 * - `prepare`: prepares a job. A pack that fails is sent again, so the sources of a job that shares an Assembly are
 *   replayable.
 * - `send`: see {@link Send}.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly prepare: <R>(options: Job.Options<R>, isShared?: boolean) => Effect.Effect<Prepared, AssemblyUploadError, R>
  readonly send: Send
}

/** Runs jobs over HTTP without a journal. */
export const send =
  (services: Services): Send =>
  (options, sources, emit) =>
    Effect.suspend(() => {
      let current: Assembly.AssemblyId | undefined
      const store: AssemblyJob.Store = {
        found: undefined,
        record: (_, { assemblyId }) =>
          Effect.sync(() => {
            current = assemblyId
          }),
        forget: Effect.void
      }
      const job = { options, sources, store, uploadOne: Engine.runFile, emit }
      return Effect.onInterrupt(AssemblyJob.run(job), () =>
        options.cancelOnInterrupt === true && current !== undefined ? AssemblyFiles.cancel(current) : Effect.void
      )
    }).pipe(Effect.provide(services))

/** Runs jobs without a journal: a later run cannot continue them. */
export const inMemory = (sending: Send): Service => ({
  prepare: (options, isShared = false) =>
    Effect.map(Job.prepare(options, isShared), (sources) => ({
      sources,
      done: Effect.undefined,
      completed: () => Effect.void,
      run: (emit) => sending(options, sources, emit)
    })),
  send: sending
})

const encodeParams = Input.encoder(Assembly.CreateParams)

/** The key of a job. Two runs with the same service, params and files have the same key. */
const keyOf = <R>({ files, params }: Job.Options<R>, sources: ReadonlyArray<Replayable>) =>
  Effect.gen(function* () {
    const { origins } = yield* AssemblyClient
    const { assemblyId, ...rest } = params
    const encoded = yield* Effect.mapError(
      Effect.fromResult(encodeParams(rest)),
      (issues) => new InvalidRequest({ operation: "AssemblyUpload", issues })
    )
    const identities = yield* Effect.forEach(sources, Journaled.identify)
    return yield* assemblyKeyOf([
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

/** Runs jobs with a journal. The run acquires the lease of the job. */
export const journaled = (journal: UploadJournal["Service"], services: Services): Service => ({
  send: send(services),
  prepare: (options) =>
    Effect.gen(function* () {
      const { assemblies } = journal
      const sources = yield* Effect.forEach(yield* Job.prepare(options, true), replayable)
      const key = yield* Effect.provide(keyOf(options, sources), services)
      const stored = Effect.map(assemblies.get(key), Option.getOrUndefined)
      return {
        sources,
        completed: (assemblyId) =>
          Effect.flatMap(Clock.currentTimeMillis, (writtenAt) =>
            Effect.ignore(assemblies.put(key, { _tag: "Completed", assemblyId, writtenAt }))
          ),
        done: Effect.map(stored, (entry) => (entry?._tag === "Completed" ? entry : undefined)),
        run: (emit) =>
          Effect.gen(function* () {
            const lease = yield* Leasing.hold(journal, key, emit)
            const job = Effect.gen(function* () {
              const store: AssemblyJob.Store = {
                found: yield* stored,
                record: (_tag, about) =>
                  Effect.gen(function* () {
                    yield* lease.check
                    const writtenAt = yield* Clock.currentTimeMillis
                    yield* assemblies.put(key, { ...about, _tag, writtenAt })
                  }),
                forget: Effect.andThen(lease.check, assemblies.forget(key))
              }
              const { onFailure = "keep" } = options
              return yield* AssemblyJob.run({
                options: { ...options, onFailure },
                sources,
                store,
                uploadOne: Journaled.runFile(journal),
                emit
              })
            })
            return yield* Leasing.during(lease, job)
          }).pipe(Effect.scoped, Effect.provide(services))
      }
    })
})
