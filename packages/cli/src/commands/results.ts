import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Results from "@assembly-effect/api/Results"
import * as Folder from "@assembly-effect/api/unstable/Folder"
import * as Md5 from "@assembly-effect/api/unstable/Md5"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import type * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import type * as PlatformError from "effect/PlatformError"
import * as Schema from "effect/Schema"
import * as ErrorLine from "../ErrorLine.ts"
import * as Format from "../Format.ts"
import { assemblyId } from "../internal/assemblyId.ts"
import * as FileMd5 from "../internal/fileMd5.ts"
import { jsonFlag, repeated, switchFlag } from "../internal/flags.ts"
import * as NextCommand from "../internal/nextCommand.ts"
import * as ResultFiles from "../internal/resultFiles.ts"
import * as SystemProblem from "../internal/systemProblem.ts"
import * as WholeNumber from "../internal/wholeNumber.ts"
import * as Output from "../Output.ts"
import * as Table from "../Table.ts"

/** The Assembly is still running, so its results are not complete. */
export class StillRunning extends Schema.TaggedError<StillRunning>()("StillRunning", { assemblyId: Schema.String }) {
  override get message() {
    return `the Assembly ${this.assemblyId} is still running`
  }
}

/**
 * The Assembly has no result that can be downloaded, or the given Steps have no such result. `found` is the number of
 * results without a URL. `others` are the Steps that have results.
 */
export class NoResults extends Schema.TaggedError<NoResults>()("NoResults", {
  assemblyId: Schema.String,
  steps: Schema.Array(Schema.String),
  found: Schema.Int,
  others: Schema.optionalKey(Schema.Array(Schema.String))
}) {
  override get message() {
    const of = this.steps.length === 0 ? "" : ` of ${this.steps.join(", ")}`
    const others = this.others ?? []
    const instead = others.length === 0 ? "" : `; it has results of ${others.join(", ")}`
    return this.found === 0
      ? `the Assembly ${this.assemblyId} has no results${of}${instead}`
      : `the files${of} of the Assembly ${this.assemblyId} have no URL, because their Steps do not export them`
  }
}

/**
 * Another file than the result is at the destination, and would be lost. A file that cannot be compared by its MD5
 * counts as another file.
 */
export class FileExists extends Schema.TaggedError<FileExists>()("FileExists", { path: Schema.String }) {
  override get message() {
    return `${this.path} exists and is another file; --overwrite replaces it, --output names another folder`
  }
}

/**
 * The path of a result leads through a link in the folder for the files, so the file would be written elsewhere. The
 * service decides the path of a result, so a link must not be followed.
 */
export class FolderIsLink extends Schema.TaggedError<FolderIsLink>()("FolderIsLink", {
  link: Schema.String,
  target: Schema.String,
  path: Schema.String
}) {
  override get message() {
    return `${this.link} is a link to ${this.target}, so ${this.path} would be written outside of the folder; remove the link, or name another folder with --output`
  }
}

/** The folder for the files cannot be created, or a path in this folder cannot be read. */
export class CannotUseFolder extends Schema.TaggedError<CannotUseFolder>()("CannotUseFolder", {
  path: Schema.String,
  description: Schema.String
}) {
  override get message() {
    return `${this.path}: ${this.description}; --output names another folder`
  }
}

const toCannotUse =
  (path: string) =>
  (error: PlatformError.PlatformError): CannotUseFolder =>
    new CannotUseFolder({
      path,
      description:
        SystemProblem.codeOf(error) === "ENOENT" ? "the folder cannot be created here" : SystemProblem.of(error)
    })

const stepsFlag = repeated(
  Flag.String("step").pipe(
    Flag.withMetavar("step"),
    Flag.withDescription(
      "Only the files of this Step; may be repeated (default: every Step except :original, which has the uploads)"
    )
  )
)

/**
 * The results, or the files of the given Steps. Fails if one of the given Steps has no file, because the name of this
 * Step may be mistyped.
 */
const resultsOf = (status: Assembly.Status, id: string, steps: ReadonlyArray<string>) => {
  const unknown = steps.filter((step) => ResultFiles.of(status, [step]).length === 0)
  return unknown.length === 0
    ? Effect.succeed(steps.length === 0 ? ResultFiles.of(status) : ResultFiles.of(status, steps))
    : Effect.fail(new NoResults({ assemblyId: id, steps: unknown, found: 0, others: ResultFiles.stepsOf(status) }))
}

const Listing = Schema.Record(Schema.String, Schema.Array(Assembly.File))

const list = Command.make(
  "list",
  { assemblyId, steps: stepsFlag, json: jsonFlag },
  Effect.fnUntraced(function* ({ assemblyId: id, json, steps }) {
    const status = yield* Assemblies.get(id)
    const files = yield* resultsOf(status, id, steps)
    if (json) {
      const byStep = Map.groupBy(files, ({ step }) => step)
      return yield* Output.json(Listing)(
        Object.fromEntries([...byStep].map(([step, found]) => [step, found.map(({ file }) => file)]))
      )
    }
    yield* Output.report(Table.render(ResultFiles.columns, files, { ...(yield* Output.layout), empty: "no results" }))
    // The suggested command downloads the results of all Steps, so it does not fit a list of some Steps.
    if (steps.length === 0) yield* NextCommand.suggestFor(status)
  })
).pipe(
  Command.withDescription("List the results of an Assembly, sorted by Step and by name"),
  Command.withExamples([
    { command: "assembly results list <assemblyId>", description: "All results" },
    { command: "assembly results list --step resized --json <assemblyId>", description: "With their URLs, as JSON" }
  ])
)

/** What is at the destination: nothing, the same file, or another file. */
const stateAt = Effect.fnUntraced(function* (path: string, { file }: ResultFiles.ResultFile) {
  const fs = yield* FileSystem.FileSystem
  const info = yield* Effect.asSome(fs.stat(path)).pipe(
    Effect.catchReason("PlatformError", "NotFound", () => Effect.succeedNone),
    Effect.mapError(toCannotUse(path))
  )
  if (Option.isNone(info)) return "nothing"
  const { size, type } = info.value
  const md5hash = Md5.ofFile(file)
  if (type !== "File" || Number(size) !== file.size || md5hash === undefined) return "other"
  return (yield* FileMd5.of(path)) === md5hash ? "same" : "other"
})

/**
 * Fails if one of the folders of a result is a link. The folder of `--output` itself may be a link, because the user
 * chose it.
 */
const refuseLinks = Effect.fnUntraced(function* (output: string, { folder, name }: ResultFiles.Placed) {
  const fs = yield* FileSystem.FileSystem
  const paths = yield* Path.Path
  const parts = folder === "" ? [] : folder.split("/")
  for (const index of parts.keys()) {
    const link = paths.join(output, ...parts.slice(0, index + 1))
    const target = yield* Effect.option(fs.readLink(link))
    if (Option.isSome(target)) {
      return yield* new FolderIsLink({ link, target: target.value, path: paths.join(output, folder, name) })
    }
  }
})

/** How many files are downloaded at the same time by default. */
const defaultConcurrency = 4

const download = Command.make(
  "download",
  {
    assemblyId,
    // `Flag.Directory` is not used, because its errors do not name the path.
    output: Flag.String("output").pipe(
      Flag.withMetavar("folder"),
      Flag.withAlias("o"),
      // An empty value is refused, because it often comes from an unset variable of a shell.
      Flag.withSchema(Schema.NonEmptyString),
      Flag.withDescription("The folder for the files; it is created if needed (default: the current folder)"),
      Flag.withDefault(".")
    ),
    steps: stepsFlag,
    overwrite: switchFlag("overwrite").pipe(
      Flag.withDescription("Replace files that differ from the results"),
      Flag.withDefault(false)
    ),
    concurrency: WholeNumber.flag("concurrency", { minimum: 1, maximum: 32 }).pipe(
      Flag.withDescription("The number of files that are downloaded at the same time, 1 to 32 (default: 4)"),
      Flag.withDefault(defaultConcurrency)
    ),
    json: switchFlag("json").pipe(
      Flag.withDescription("Print each file as a line of JSON when it is complete"),
      Flag.withDefault(false)
    )
  },
  Effect.fnUntraced(function* ({ assemblyId: id, concurrency, json, output, overwrite, steps }) {
    const paths = yield* Path.Path
    const status = yield* Assemblies.get(id)
    if (!Assembly.isOver(status)) return yield* new StillRunning({ assemblyId: id })
    const found = yield* resultsOf(status, id, steps)
    const placed = ResultFiles.place(found.filter(ResultFiles.hasUrl))
    if (placed.length === 0) return yield* new NoResults({ assemblyId: id, steps, found: found.length })
    const hidden = new Set(found.filter((one) => !ResultFiles.hasUrl(one)).map(({ step }) => step))
    if (hidden.size > 0)
      yield* Output.hint(`left out, because they have no URL: the files of ${[...hidden].join(", ")}`)

    // All destinations are checked before the first download, so that a conflict does not leave a part of the files.
    const files = yield* Effect.forEach(
      placed,
      Effect.fnUntraced(function* (result) {
        const path = paths.join(output, result.folder, result.name)
        yield* refuseLinks(output, result)
        const state = yield* stateAt(path, result)
        if (state === "other" && !overwrite) return yield* new FileExists({ path })
        return { file: result.file, step: result.step, path, isThere: state === "same" }
      })
    )
    const folders = new Set(files.map(({ path }) => paths.dirname(path)))
    yield* Effect.forEach(folders, (folder) => Effect.mapError(Folder.make(folder), toCannotUse(folder)), {
      discard: true
    })
    const [, failures] = yield* Effect.partition(
      files,
      Effect.fnUntraced(function* ({ file, isThere, path, step }) {
        const saved = isThere ? undefined : yield* Results.save(file, path)
        const size = saved?.size ?? file.size
        yield* json
          ? Output.jsonLine({ event: isThere ? "AlreadyThere" : "Downloaded", step, path, size: size ?? null })
          : Output.lines([isThere ? `${path} is there already` : `${path} (${Format.bytes(size ?? 0)})`])
      }),
      { concurrency }
    )
    // A file that cannot be saved does not keep the others from being saved.
    const [first, ...others] = failures
    yield* Effect.forEach(others, (error) => Output.error(ErrorLine.fromError(error)), { discard: true })
    if (first !== undefined) return yield* first
  })
).pipe(
  Command.withDescription(
    "Download the results of an Assembly. A file appears when it is complete; run again to get the missing files"
  ),
  Command.withExamples([
    { command: "assembly results download <assemblyId> -o thumbnails", description: "All results into a folder" },
    { command: "assembly results download --step resized <assemblyId>", description: "The results of one Step" },
    { command: "assembly results download --json <assemblyId> | jq -r .path", description: "Only the paths" }
  ])
)

/** `assembly results`: the result files of an Assembly. */
export const results = <E, R>(service: Layer.Layer<AssemblyClient | HttpClient.HttpClient, E, R>) =>
  Command.make("results").pipe(
    Command.withSubcommands([Command.provide(list, service), Command.provide(download, service)]),
    Command.withExamples([
      { command: "assembly results list <assemblyId>", description: "All results" },
      { command: "assembly results download <assemblyId> -o thumbnails", description: "All results into a folder" }
    ])
  )
