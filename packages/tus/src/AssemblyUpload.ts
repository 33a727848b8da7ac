/**
 * The whole job: an Assembly for so many files, the files uploaded side by side, and the wait for its results.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Exit from "effect/Exit"
import type * as HttpClient from "effect/http/HttpClient"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AssemblyOptions from "./internal/AssemblyOptions.ts"
import * as Events from "./internal/Events.ts"
import { UploadUntrusted } from "./TusError.ts"
import * as Upload from "./Upload.ts"
import * as UploadEvent from "./UploadEvent.ts"
import type { SourceFailed, UploadSource } from "./UploadSource.ts"
import * as UploadTarget from "./UploadTarget.ts"

/**
 * One file. `source` may be an Effect that makes one, such as `UploadSource.fromPath`: all of them run before the
 * Assembly is created, and no bytes are read before a file's turn. `fieldname` is `file` by default.
 */
export interface File<R = never> {
  readonly source: UploadSource | Effect.Effect<UploadSource, SourceFailed, R>
  readonly filename: string
  readonly fieldname?: string | undefined
  readonly metadata?: Readonly<Record<string, string | null>> | undefined
}

/**
 * - `params`: what creates the Assembly; the number of files is added.
 * - `concurrency`: how many files are uploaded at once, 4 by default, or `"unbounded"`.
 * - `upload`: how each of them is, see `Upload.Options`.
 * - `onFailure`: what happens to the Assembly when a file fails for good. `cancel`, the default, also stops the other
 *   files; `keep` lets them finish, and leaves the Assembly waiting. Where the server may hold wrong bytes as a whole
 *   file (`UploadUntrusted` with `mayBeWhole`) the Assembly is canceled under `keep` too, and at once, and so it is
 *   after a defect.
 * - `cancelOnInterrupt`: whether leaving the stream cancels the Assembly; false by default.
 * - `wait`: how the results are waited for, or false to end when the last byte is stored.
 */
export interface Options<R = never> {
  readonly params: Omit<Assemblies.CreateOptions, "numExpectedUploadFiles">
  readonly files: ReadonlyArray<File<R>>
  readonly concurrency?: number | "unbounded" | undefined
  readonly upload?: Omit<Upload.Options, "metadata"> | undefined
  readonly onFailure?: "cancel" | "keep" | undefined
  readonly cancelOnInterrupt?: boolean | undefined
  readonly wait?: false | Assemblies.AwaitOptions | undefined
}

/**
 * What happens, by `file`, the index in `files`. All numbers are bytes. For a reader who comes late the newest 128 of
 * those that tell of a moment are kept (`Progress`, and `FileEvent` with what `UploadEvent` counts among them).
 *
 * - `AssemblyCreated`: the Assembly is there and takes uploads.
 * - `FileEvent`: an event of one upload, except its progress.
 * - `Progress`: of all files together; `total` is undefined when the size of one is not known.
 * - `FileCompleted`, `FileFailed`: a file has come to its end.
 * - `Uploaded`: every file is stored; the Assembly executes.
 * - `Completed`: the Assembly has completed; its results are in `status`.
 */
export type AssemblyUploadEvent = Data.TaggedEnum<{
  readonly AssemblyCreated: { readonly status: Assembly.Status }
  readonly FileEvent: { readonly file: number; readonly event: UploadEvent.UploadEvent }
  readonly Progress: { readonly sent: bigint; readonly acknowledged: bigint; readonly total: bigint | undefined }
  readonly FileCompleted: { readonly file: number; readonly length: bigint }
  readonly FileFailed: { readonly file: number; readonly error: Upload.UploadError }
  readonly Uploaded: { readonly assemblyId: Assembly.AssemblyId }
  readonly Completed: { readonly status: Assembly.Status }
}>

export const { $is, $match, AssemblyCreated, Completed, FileCompleted, FileEvent, FileFailed, Progress, Uploaded } =
  Data.taggedEnum<AssemblyUploadEvent>()

/** What became of a file: `Stopped` is one that another's failure ended or kept from its turn. */
const Outcome = Schema.Struct({
  filename: Schema.String,
  outcome: Schema.Literals(["Completed", "Failed", "Stopped"]),
  problem: Schema.optionalKey(Schema.String)
})

/** A file failed for good. What became of each file, in their order, and whether the Assembly was cancelled. */
export class FilesFailed extends Schema.TaggedError<FilesFailed>()("FilesFailed", {
  assemblyId: Schema.String,
  files: Schema.Array(Outcome),
  assembly: Schema.Literals(["canceled", "not canceled", "kept"])
}) {
  override get message() {
    const failed = this.files.filter(({ outcome }) => outcome === "Failed")
    return `${failed.length} of ${this.files.length} files failed, the Assembly was ${this.assembly}: ${failed
      .map(({ filename, problem }) => `${filename}: ${problem}`)
      .join("; ")}`
  }
}

type Results = Array<Exit.Exit<UploadEvent.UploadResult, Upload.UploadError> | undefined>

const prepare = <R>(file: File<R>): Effect.Effect<UploadSource, SourceFailed, R> =>
  Effect.isEffect(file.source) ? file.source : Effect.succeed(file.source)

/** Whether an event tells of a moment, of the whole job or of one file. */
const isTransient = (event: AssemblyUploadEvent): boolean =>
  Events.isTransient(event._tag === "FileEvent" ? event.event : event)

/** The progress of all files together. */
const totals = (sources: ReadonlyArray<UploadSource>, emit: Events.Emit<AssemblyUploadEvent>) => {
  const sent = sources.map(() => 0n)
  const acknowledged = sources.map(() => 0n)
  const sum = (numbers: ReadonlyArray<bigint>) => numbers.reduce((a, b) => a + b, 0n)
  const sizes = sources.flatMap(({ size }) => (size === undefined ? [] : [size]))
  const total = sizes.length === sources.length ? sum(sizes) : undefined
  return (file: number, now: { readonly sent: bigint; readonly acknowledged: bigint }) => {
    sent[file] = now.sent
    acknowledged[file] = now.acknowledged
    emit(Progress({ sent: sum(sent), acknowledged: sum(acknowledged), total }))
  }
}

const toOutcome = (filename: string, exit: Results[number]): typeof Outcome.Type => {
  if (exit === undefined) return { filename, outcome: "Stopped" }
  if (Exit.isSuccess(exit)) return { filename, outcome: "Completed" }
  return Option.match(Exit.findErrorOption(exit), {
    onNone: () => ({ filename, outcome: "Stopped" }),
    onSome: (error) => ({ filename, outcome: "Failed", problem: error.message })
  })
}

/** Whether other files may go on: the server may take one that it has wrong as whole, and begin its work on it. */
const isBearable = (error: Upload.UploadError): boolean => error._tag !== "UploadUntrusted" || !error.mayBeWhole

/** Whether a file that was uploaded, or not, is no danger to the Assembly. */
const isHarmless = (exit: Exit.Exit<unknown, Upload.UploadError>): boolean =>
  Option.match(Exit.findErrorOption(exit), { onNone: () => true, onSome: isBearable })

/** Uploads every file; the first that fails for good stops the others, unless they are to be kept. */
const uploadAll = <R>(
  options: Options<R>,
  target: UploadTarget.UploadTarget,
  sources: ReadonlyArray<UploadSource>,
  emit: Events.Emit<AssemblyUploadEvent>
): Effect.Effect<Results, never, HttpClient.HttpClient> => {
  const results: Results = options.files.map(() => undefined)
  const progress = totals(sources, emit)

  const taken = new Set<string>()
  /** Two files at one URL would be one file, which nothing else tells. */
  const isTaken = (event: UploadEvent.UploadEvent): boolean => {
    if (event._tag !== "Created") return false
    const url = Redacted.value(event.url)
    return taken.has(url) || !taken.add(url)
  }

  const tell = (file: number) => (event: UploadEvent.UploadEvent) =>
    Effect.suspend(() => {
      if (isTaken(event)) return new UploadUntrusted({ problem: "one Location for two files", mayBeWhole: true })
      if (event._tag === "Progress") progress(file, event)
      else emit(FileEvent({ file, event }))
      return Effect.void
    })

  const one = (source: UploadSource, file: number) => {
    const { fieldname = "file", filename, metadata } = options.files[file] ?? { filename: "" }
    const events = Upload.events(target, source, { ...options.upload, metadata: { ...metadata, filename, fieldname } })
    return UploadEvent.result(Stream.tap(events, tell(file))).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          results[file] = exit
          if (Exit.isSuccess(exit)) {
            progress(file, { sent: exit.value.length, acknowledged: exit.value.length })
            return emit(FileCompleted({ file, length: exit.value.length }))
          }
          const error = Exit.findErrorOption(exit)
          if (Option.isSome(error)) emit(FileFailed({ file, error: error.value }))
        })
      ),
      (upload) => (options.onFailure === "keep" ? Effect.catchIf(upload, isBearable, () => Effect.void) : upload)
    )
  }

  return Effect.forEach(sources, one, { concurrency: options.concurrency ?? 4, discard: true }).pipe(
    Effect.ignore,
    Effect.as(results)
  )
}

/** Cancels the Assembly, and answers whether it is: it may have been over before. */
const cancel = (assemblyId: Assembly.AssemblyId) =>
  Assemblies.cancel(assemblyId).pipe(
    Effect.map((status) => Assembly.state(status) === "Canceled"),
    Effect.timeout("30 seconds"),
    Effect.orElseSucceed(() => false)
  )

const newId = SecureRandom.SecureRandom.use((random) => random.randomBytes(16)).pipe(
  Effect.map((bytes) => Assembly.AssemblyId.make(Hex.encode(bytes))),
  Effect.provide(SecureRandom.layerWebCrypto)
)

/** Uploads all files into an Assembly, which is canceled where they do not arrive. */
const fill = <R>(
  options: Options<R>,
  status: Assembly.Status,
  assemblyId: Assembly.AssemblyId,
  sources: ReadonlyArray<UploadSource>,
  emit: Events.Emit<AssemblyUploadEvent>
) =>
  Effect.gen(function* () {
    const target = yield* Effect.tapError(
      // Another id than the one that was asked for would take the files elsewhere.
      UploadTarget.fromAssembly({ ...status, assembly_id: assemblyId }),
      () => cancel(assemblyId)
    )
    const results = yield* uploadAll(options, target, sources, emit)
    if (results.every((exit) => exit !== undefined && Exit.isSuccess(exit))) return
    const isKept = options.onFailure === "keep" && results.every((exit) => exit === undefined || isHarmless(exit))
    return yield* new FilesFailed({
      assemblyId,
      files: options.files.map(({ filename }, index) => toOutcome(filename, results[index])),
      assembly: isKept ? "kept" : (yield* cancel(assemblyId)) ? "canceled" : "not canceled"
    })
  }).pipe(
    // Nobody could go on with it: a defect has no answer.
    Effect.onExit((exit) => (Exit.hasDies(exit) ? cancel(assemblyId) : Effect.void))
  )

const program = <R>(options: Options<R>, emit: Events.Emit<AssemblyUploadEvent>) =>
  Effect.gen(function* () {
    const { cancelOnInterrupt = false, files, params, wait } = options
    yield* AssemblyOptions.check(options)
    const sources = yield* Effect.forEach(files, prepare)
    yield* AssemblyOptions.checkSources(options, sources)
    const assemblyId = params.assemblyId ?? (yield* newId)

    return yield* Effect.gen(function* () {
      const status = yield* Assemblies.create({ ...params, assemblyId, numExpectedUploadFiles: files.length })
      emit(AssemblyCreated({ status }))
      yield* fill(options, status, assemblyId, sources, emit)
      emit(Uploaded({ assemblyId }))
      if (wait === false) return
      emit(Completed({ status: yield* Assemblies.awaitCompletion(assemblyId, wait) }))
    }).pipe(Effect.onInterrupt(() => (cancelOnInterrupt ? cancel(assemblyId) : Effect.void)))
  })

/**
 * Creates an Assembly, uploads its files, waits until it has completed, and tells what happens.
 *
 * @example
 * AssemblyUpload.events(options).pipe(Stream.runForEach((event) => Console.log(event._tag)))
 */
export const events = <R = never>(options: Options<R>) =>
  Events.fromProgram((emit: Events.Emit<AssemblyUploadEvent>) => program(options, emit), isTransient)

/** What the whole job can fail with. */
export type AssemblyUploadError = Stream.Error<ReturnType<typeof events>>

/**
 * Creates an Assembly, uploads its files, waits until it has completed, and answers its Status. With `wait: false` that
 * is the Status of its creation.
 *
 * **When to use**
 *
 * For the usual job of files in, results out. With `Upload` alone an Assembly that exists gets one more file.
 *
 * **Details**
 *
 * Every option and every source is checked before the Assembly is created, and a source is opened at its turn. When a
 * file fails for good the error is `FilesFailed`, which tells what became of each, and the Assembly is canceled instead
 * of waiting for ever.
 *
 * @example
 * AssemblyUpload.run({
 *   params: { steps: { ":original": { robot: "/upload/handle" } } },
 *   files: [{ source: UploadSource.fromPath("cat.jpg"), filename: "cat.jpg" }]
 * })
 */
export const run = <R = never>(
  options: Options<R>
): Effect.Effect<Assembly.Status, AssemblyUploadError, AssemblyClient.AssemblyClient | HttpClient.HttpClient | R> =>
  events(options).pipe(
    Stream.filter((event) => event._tag === "Completed" || event._tag === "AssemblyCreated"),
    Stream.runLast,
    Effect.map((event) => Option.getOrThrow(event).status)
  )
