/**
 * Prepares jobs, with or without a journal. A job whose Assembly and uploads are in the journal continues the job of an
 * earlier run.
 */
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { AssemblyUploadError } from "../AssemblyUploadError.ts"
import * as AssemblyFiles from "./assemblyFiles.ts"
import * as AssemblyJob from "./assemblyJob.ts"
import * as Engine from "./engine.ts"
import * as Job from "./job.ts"
import { type AssemblyEntry, assemblyKeyOf, type Lease, type UploadJournal } from "./journal.ts"
import * as Journaled from "./journaled.ts"
import * as Leasing from "./lease.ts"
import { replayable } from "./options.ts"
import * as PackedStatus from "./packedStatus.ts"
import type { Replayable, UploadSource } from "./source.ts"

/** The services of the Layer, which its jobs use. */
export type Services = Context.Context<HttpClient.HttpClient | AssemblyClient>

/**
 * A job whose options are valid, with open sources.
 *
 * - `done`: the entry of its Assembly, if an earlier run has seen that the Assembly has completed.
 * - `join`: the store of a job in a pack, whose scope holds the lease of the job. Undefined if the job has completed, or
 *   has an Assembly of its own.
 *
 * @since 0.1.0
 * @category models
 */
export interface Prepared {
  readonly sources: ReadonlyArray<UploadSource>
  readonly done: Effect.Effect<AssemblyEntry | undefined, AssemblyUploadError>
  readonly join: Effect.Effect<AssemblyJob.Store | undefined, AssemblyUploadError, Scope.Scope>
  readonly run: (emit: AssemblyFiles.Emit) => Effect.Effect<Assembly.Status, AssemblyUploadError>
}

/**
 * Runs a job whose sources are open. By default nothing is stored: a later run cannot continue the job.
 *
 * @since 0.1.0
 * @category models
 */
export type Send = (
  options: Job.Options<unknown>,
  sources: ReadonlyArray<UploadSource>,
  emit: AssemblyFiles.Emit,
  store?: AssemblyJob.Store
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
  (options, sources, emit, { forget, found, record } = AssemblyJob.forgetful) =>
    Effect.suspend(() => {
      let current: Assembly.AssemblyId | undefined
      const store: AssemblyJob.Store = {
        found,
        record: (entry) => {
          current = entry.assemblyId
          return record(entry)
        },
        forget
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
      join: Effect.succeed(AssemblyJob.forgetful),
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
export const journaled = Effect.fnUntraced(function* (journal: UploadJournal["Service"], services: Services) {
  const { assemblies } = journal
  const { runFile } = Journaled.make(journal)
  // Many jobs of an earlier run ask how the same pack has ended.
  const ended = yield* Cache.makeWith(
    (assemblyId: Assembly.AssemblyId) => Effect.provide(AssemblyJob.giveUp(assemblyId), services),
    { capacity: 64, timeToLive: (exit) => (Exit.isSuccess(exit) ? Infinity : 0) }
  )

  const prepare: Service["prepare"] = (options) =>
    Effect.gen(function* () {
      const sources = yield* Effect.forEach(yield* Job.prepare(options, true), replayable)
      const key = yield* Effect.provide(keyOf(options, sources), services)
      const stored = Effect.map(assemblies.get(key), Option.getOrUndefined)
      const storeOf = (lease: Lease, found: AssemblyEntry | undefined): AssemblyJob.Store => ({
        found,
        record: (entry) =>
          Effect.gen(function* () {
            yield* lease.check
            yield* assemblies.put(key, { ...entry, writtenAt: yield* Clock.currentTimeMillis })
          }),
        forget: Effect.andThen(lease.check, assemblies.forget(key))
      })
      return {
        sources,
        done: Effect.map(stored, (entry) => (entry?._tag === "Completed" ? entry : undefined)),
        join: Effect.gen(function* () {
          const lease = yield* Leasing.hold(journal, key, () => undefined)
          const found = yield* stored
          const store = storeOf(lease, found)
          if (found === undefined) return store
          const { assemblyId, isForm, uploads } = found
          if (found._tag === "Completed" || uploads === undefined) return undefined
          const status = Option.getOrUndefined(yield* Cache.get(ended, assemblyId))
          // Without a proof, and with names that nobody else has, it is known which files are those of the job.
          const isProven = options.verify !== undefined || isForm === true
          const own =
            isProven || status?.ok !== "ASSEMBLY_COMPLETED" ? undefined : PackedStatus.named(status, options.files)
          if (own === undefined) return store
          yield* store.record({ _tag: "Completed", assemblyId, uploads: PackedStatus.idsOf({ uploads: own }) })
          return undefined
        }),
        run: (emit) =>
          Effect.gen(function* () {
            const lease = yield* Leasing.hold(journal, key, emit)
            const job = Effect.flatMap(stored, (found) =>
              AssemblyJob.run({
                options: { ...options, onFailure: options.onFailure ?? "keep" },
                sources,
                store: storeOf(lease, found),
                uploadOne: runFile,
                emit
              })
            )
            return yield* Leasing.during(lease, job)
          }).pipe(Effect.scoped, Effect.provide(services))
      }
    })
  return { send: send(services), prepare } satisfies Service
})
