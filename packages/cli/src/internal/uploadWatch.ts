/**
 * Runs `assembly upload --watch`: one job for each file, at the start and as files come or change. The journal skips a
 * file whose job has completed, also in a later command.
 */
import { Assemblies } from "@assembly-effect/api"
import type { Assembly } from "@assembly-effect/schema"
import { AssemblyUpload, type UploadSource } from "@assembly-effect/tus"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { Clock, Duration, Effect, FileSystem, Option, Path, type PlatformError, Result, Stream } from "./effect.ts"
import * as Advice from "./advice.ts"
import * as Download from "./download.ts"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"
import * as Shown from "./assembly.ts"
import * as TemplateId from "./templateId.ts"
import * as UploadJob from "./uploadJob.ts"
import * as UploadPlan from "./uploadPlan.ts"

/** A file that is the same for this long is no longer being written. */
const settling = Duration.seconds(1)

/** Folders are searched again after this time, because a folder that was removed and made again is not watched. */
const searching = Duration.seconds(30)

/** After this pause, a job is tried again that failed because the service was unreachable. */
const retrying = Duration.seconds(10)

/** The flags of the command: the folders, whose files may change, and where results are downloaded, if they are. */
interface Settings extends UploadPlan.Options, UploadJob.Sending {
  readonly params: Assembly.CreateParams
  readonly json: boolean
  readonly output: Option.Option<string>
  readonly overwrite: boolean
}

type File = UploadPlan.Planned<UploadSource.Replayable>
type Outcome = AssemblyUpload.Outcome<{ readonly data: File }>

/** The files that have come or changed since the last call. A file that is still being written comes in a later call. */
const makeScan = (plan: UploadPlan.Options) => {
  const seen = new Map<string, { readonly identity: string; readonly since: number; isTaken: boolean }>()
  const look = Effect.fnUntraced(function* (file: File, now: number) {
    const identity = (yield* Effect.orElseSucceed(file.source.identity, () => undefined)) ?? ""
    const before = seen.get(file.realPath)
    const state = before?.identity === identity ? before : { identity, since: now, isTaken: false }
    seen.set(file.realPath, state)
    return { file, state }
  })
  const scan = Effect.gen(function* () {
    const files = UploadPlan.replayable(yield* UploadPlan.make(plan)) ?? []
    const now = yield* Clock.currentTimeMillis
    const found = yield* Effect.forEach(files, (file) => look(file, now))
    const fresh = found.filter(({ state }) => !state.isTaken)
    const ready = fresh.filter(({ state }) => now - state.since >= Duration.toMillis(settling))
    for (const { state } of ready) state.isTaken = true
    return { ready: ready.map(({ file }) => file), isSettled: ready.length === fresh.length }
  })
  return { scan, again: ({ realPath }: File) => void seen.delete(realPath) }
}

/** Fails if a folder cannot be watched. */
const changesIn = (folders: ReadonlyArray<string>) =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, (fs) => {
      const unwatched = (folder: string) => (error: PlatformError.PlatformError) =>
        Failure.failed(`${folder} cannot be watched: ${Failure.problemOf(error)}`)
      const all = folders.map((folder) => Stream.mapError(fs.watch(folder, { recursive: true }), unwatched(folder)))
      return Stream.mergeAll(all, { concurrency: "unbounded" })
    })
  )

/** Downloads the results of a file. Results without a path in the Workspace get the folder of the file. */
const saveResults = Effect.fnUntraced(function* (file: File, status: Assembly.Status, settings: Settings, to: string) {
  const paths = yield* Path.Path
  const hasPath = Shown.of(status).some(({ file: { name, path } }) => Boolean(path) || name?.includes("/"))
  const output = hasPath ? to : paths.join(to, paths.dirname(file.name))
  yield* Download.save(status, { ...settings, output, steps: [], concurrency: 4 })
})

/** Prints how the job of a file ended, and downloads its results. */
const finish = Effect.fnUntraced(function* (outcome: Outcome, settings: Settings) {
  if (outcome._tag === "Failed") return yield* Effect.fail(outcome.error)
  if (outcome._tag === "Died") return yield* Effect.failCause(outcome.cause)
  const file = outcome.job.data
  const [id, text] =
    outcome._tag === "Completed"
      ? [outcome.status.assembly_id, Shown.line(outcome.status)]
      : [outcome.assemblyId, `uploaded before, by Assembly ${outcome.assemblyId}`]
  yield* settings.json
    ? Output.jsonLine({ event: outcome._tag, name: file.name, assembly_id: id ?? null })
    : Output.lines<string>([`${file.name}: ${text}`])
  if (Option.isNone(settings.output)) return
  const status = outcome._tag === "Completed" ? outcome.status : yield* Assemblies.get(outcome.assemblyId)
  yield* saveResults(file, status, settings, settings.output.value)
})

/** Uploads files until the command is interrupted. A file whose job fails does not end the command. */
export const run = Effect.fnUntraced(function* (settings: Settings) {
  const { json, output, params, paths } = settings
  if (Option.isSome(output)) {
    yield* Download.checkOutside(output.value, paths)
    yield* Download.prepare(output.value)
  }
  const concurrency = UploadJob.concurrencyOf(settings, [])
  const resolved = yield* TemplateId.inParams(params)
  const told = new Set<string>()
  /** Says once what is wrong with a file, or with a folder that cannot be searched. */
  const skip = Effect.fnUntraced(function* (error: Failure.CommandError) {
    const line = Advice.line(error)
    if (told.has(line)) return
    told.add(line)
    yield* Output.error(line)
  })
  const { again, scan } = makeScan({ ...settings, skip })
  const wake = yield* Queue.sliding<void>(1)
  const scanAfter = (pause: Duration.Duration) => Effect.forkScoped(Effect.delay(Queue.offer(wake, undefined), pause))
  let isFirst = true
  const fresh = Effect.gen(function* () {
    const { isSettled, ready } = yield* scan
    if (!isSettled) yield* scanAfter(settling)
    isFirst = false
    return ready
  }).pipe(
    // A folder may be gone before it is read.
    Effect.catchIf(
      () => !isFirst,
      (error) => Effect.as(skip(error), [])
    )
  )
  const jobs = Stream.fromQueue(wake).pipe(
    Stream.mapEffect(() => fresh),
    Stream.flattenIterable,
    Stream.map((file) => ({
      ...UploadJob.optionsOf(settings, [file]),
      data: file,
      params: resolved,
      files: [{ source: file.source, filename: file.name }]
    }))
  )
  const end = Effect.fnUntraced(function* (outcome: Outcome) {
    const ended = yield* Effect.result(finish(outcome, settings))
    if (Result.isSuccess(ended)) return
    const file = outcome.job.data
    const [message, exit_code] = [Advice.line(ended.failure), Failure.codeOf(ended.failure)]
    // If the service refuses the credentials, every other job would fail too.
    if (exit_code === Failure.codes.authentication) return yield* Effect.fail(ended.failure)
    yield* json
      ? Output.jsonLine({ event: "Failed", name: file.name, message, exit_code })
      : Output.error(`${file.name}: ${message}`)
    if (exit_code !== Failure.codes.network) return
    again(file)
    yield* scanAfter(retrying)
  })

  yield* Effect.forkScoped(Effect.repeat(Queue.offer(wake, undefined), Schedule.spaced(searching)))
  if (!json) yield* Output.hint(`Watching ${paths.join(", ")}. Press Ctrl-C to stop.`)
  yield* AssemblyUpload.runAll(jobs, { assemblies: concurrency, uploads: concurrency }).pipe(
    Stream.mapEffect(end, { concurrency, unordered: true }),
    Stream.merge(Stream.drain(Stream.tap(changesIn(paths), () => Queue.offer(wake, undefined)))),
    Stream.runDrain,
    Effect.provide(AssemblyUpload.layerJournaled),
    // The terminal has written ^C.
    Effect.onInterrupt(() =>
      Effect.andThen(Output.hint(""), Output.error("stopped watching; the same command continues"))
    )
  )
}, Effect.scoped)
