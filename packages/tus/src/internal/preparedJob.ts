/**
 * Prepares jobs, with or without a journal. A job whose Assembly and uploads are in the journal continues the job of an
 * earlier run.
 */
import { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Arr from "effect/Array"
import * as Cache from "effect/Cache"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as AssemblyFiles from "./assemblyFiles.ts"
import * as AssemblyJob from "./assemblyJob.ts"
import * as Engine from "./engine.ts"
import * as Job from "./job.ts"
import { assemblyKeyOf, type Lease, UploadJournal } from "./journal.ts"
import * as Journaled from "./journaled.ts"
import { replayable } from "./options.ts"
import * as PackedStatus from "./packedStatus.ts"
import type { Replayable } from "./source.ts"

/** The services of the Layer, which its jobs use. */
const services = Effect.map(
  Effect.context<HttpClient.HttpClient | AssemblyClient>(),
  Context.pick(HttpClient.HttpClient, AssemblyClient)
)

/** Runs jobs over HTTP without a journal. */
const sendWith =
  (provided: Effect.Success<typeof services>): AssemblyJob.Send =>
  (options, sources, emit, store = AssemblyJob.forgetful) =>
    Effect.suspend(() => {
      let current: Assembly.AssemblyId | undefined
      const record: AssemblyJob.Store["record"] = (entry) => {
        current = entry.assemblyId
        return store.record(entry)
      }
      const job = { options, sources, store: { ...store, record }, uploadOne: Engine.runFile, emit }
      return Effect.onInterrupt(AssemblyJob.run(job), () =>
        options.cancelOnInterrupt === true && current !== undefined ? AssemblyFiles.cancel(current) : Effect.void
      )
    }).pipe(Effect.provide(provided))

/** Runs jobs without a journal: a later run cannot continue them. */
export const inMemory = (send: AssemblyJob.Send): AssemblyJob.Service => ({
  prepare: (options, isShared = false) =>
    Effect.map(Job.prepare(options, isShared), (sources) => ({
      sources,
      done: Effect.undefined,
      join: Effect.succeed(AssemblyJob.forgetful),
      run: (emit) => send(options, sources, emit)
    })),
  send
})

/** Runs jobs over HTTP, without a journal. */
export const overHttp = Effect.map(services, (provided) => inMemory(sendWith(provided)))

const encodeParams = Input.encoder(Assembly.CreateParams)

/** The key of a job. Two runs with the same service, params and files have the same key. */
const keyOf = Effect.fnUntraced(function* (
  { files, params }: Job.Options<unknown>,
  sources: ReadonlyArray<Replayable>
) {
  const { origins } = yield* AssemblyClient
  const { assemblyId, ...rest } = params
  const encoded = yield* Effect.mapError(
    Effect.fromResult(encodeParams(rest)),
    (issues) => new InvalidRequest({ operation: "AssemblyUpload", issues })
  )
  const described = yield* Effect.forEach(Arr.zip(files, sources), ([file, source]) => {
    const { fieldname = "file", filename, metadata = {} } = file
    return Effect.map(Journaled.identify(source), (id) => [filename, fieldname, metadata, `${source.size}`, id])
  })
  return yield* assemblyKeyOf([origins.entries[0], assemblyId ?? null, encoded, described])
})

/** Runs jobs over HTTP, with a journal. The run acquires the lease of the job. */
export const journaled = Effect.gen(function* () {
  const provided = yield* services
  const journal = yield* UploadJournal
  const { assemblies } = journal
  const { runFile: uploadOne } = Journaled.make(journal)
  // Many jobs of an earlier run ask how the same pack has ended.
  const ended = yield* Cache.makeWith(
    (assemblyId: Assembly.AssemblyId) => Effect.provide(AssemblyJob.giveUp(assemblyId), provided),
    { capacity: 64, timeToLive: (exit) => (Exit.isSuccess(exit) ? Infinity : 0) }
  )

  const prepared: AssemblyJob.Service["prepare"] = Effect.fnUntraced(function* (given) {
    const sources = yield* Effect.forEach(yield* Job.prepare(given, true), replayable)
    const options = { ...given, onFailure: given.onFailure ?? "keep" }
    const key = yield* Effect.provide(keyOf(given, sources), provided)
    const stored = Effect.map(assemblies.get(key), Option.getOrUndefined)
    const done = Effect.map(stored, (entry) => (entry?._tag === "Completed" ? entry : undefined))

    const storeOf = ({ check }: Lease) =>
      Effect.map(stored, (found): AssemblyJob.Store => ({
        found,
        record: Effect.fnUntraced(function* (entry) {
          yield* check
          yield* assemblies.put(key, { ...entry, writtenAt: yield* Clock.currentTimeMillis })
        }),
        forget: Effect.andThen(check, assemblies.forget(key))
      }))

    return {
      sources,
      done,
      join: Effect.gen(function* () {
        const store = yield* storeOf(yield* Journaled.hold(journal, key, () => undefined))
        if (store.found === undefined) return store
        const { _tag, assemblyId, isForm, uploads } = store.found
        if (_tag === "Completed" || uploads === undefined) return undefined
        const status = yield* Cache.get(ended, assemblyId)
        // Without a proof, and with names that nobody else has, it is known which files are those of the job.
        const isProven = given.verify !== undefined || isForm === true
        if (isProven || status?.ok !== "ASSEMBLY_COMPLETED") return store
        const own = PackedStatus.named(status, given.files)
        if (own === undefined) return store
        yield* store.record({ _tag: "Completed", assemblyId, uploads: PackedStatus.idsOf({ uploads: own }) })
        return undefined
      }),
      run: (emit) =>
        Effect.gen(function* () {
          const lease = yield* Journaled.hold(journal, key, emit)
          const job = Effect.flatMap(storeOf(lease), (store) =>
            AssemblyJob.run({ options, sources, store, uploadOne, emit })
          )
          return yield* Effect.raceFirst(job, lease.lost)
        }).pipe(Effect.scoped, Effect.provide(provided))
    }
  })
  return { send: sendWith(provided), prepare: prepared }
})
