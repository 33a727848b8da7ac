import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Template from "@assembly-effect/schema/Template"
import * as Upload from "@assembly-effect/tus/Upload"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Fields from "../internal/fields.ts"
import * as JournalFolder from "../internal/journalFolder.ts"
import * as JournalProblem from "../internal/journalProblem.ts"
import * as Rate from "../internal/rate.ts"
import * as StepsFile from "../internal/stepsFile.ts"
import * as UnfinishedUploads from "../internal/unfinishedUploads.ts"
import * as UploadReport from "../internal/uploadReport.ts"
import * as UploadRun from "../internal/uploadRun.ts"
import * as WholeNumber from "../internal/wholeNumber.ts"
import * as StateFolder from "../StateFolder.ts"
import * as UploadPlan from "../UploadPlan.ts"
import { switchFlag } from "../internal/flags.ts"

/** Makes the Steps that store every uploaded file in `folder` of the Workspace. */
const storing = (folder: string): Readonly<Record<string, Assembly.Step>> => ({
  ":original": { robot: "/upload/handle" },
  stored: {
    robot: "/transloadit/store",
    use: ":original",
    ...(folder === "" ? {} : { path: UploadPlan.targetOf(folder, "${file.name}") })
  }
})

interface Flags {
  readonly path: Option.Option<string>
  readonly template: Option.Option<string>
  readonly steps: Option.Option<string>
  readonly fields: Option.Option<Readonly<Record<string, string>>>
  readonly fieldsFile: Option.Option<string>
}

/**
 * The params of the Assembly. Without a Template and without Steps, the files are stored in `folder` of the Workspace.
 */
const paramsOf = Effect.fnUntraced(function* ({ fields: pairs, fieldsFile, path, steps, template }: Flags) {
  const given = Option.getOrUndefined(yield* StepsFile.read(Template.Content, steps))
  const fields = yield* Fields.read({ fields: pairs, fieldsFile })
  const isStored = given === undefined && Option.isNone(template)
  const folder = isStored ? UploadPlan.folderOf(Option.getOrElse(path, () => "")) : undefined
  const params: Assembly.CreateParams = {
    ...(folder === undefined ? {} : { steps: storing(folder) }),
    ...(given?.steps === undefined ? {} : { steps: given.steps }),
    ...(Option.isSome(template) ? { templateId: template.value } : {}),
    ...(Option.isSome(fields) ? { fields: fields.value } : {})
  }
  return { params, folder }
})

/** The problem of `--path`: another flag contradicts it, or its value is empty or invalid. */
const contradiction = ({ path, steps, template }: Flags): string | undefined => {
  if (Option.isSome(path) && (Option.isSome(steps) || Option.isSome(template))) {
    return "--path is for the Workspace; with --template or --steps, the Steps decide where results are stored"
  }
  if (Option.isNone(path)) return undefined
  if (path.value.trim() === "") return "--path is empty"
  const problem = UploadPlan.folderProblem(UploadPlan.folderOf(path.value))
  return problem === undefined ? undefined : `--path ${path.value}: ${problem}`
}

/**
 * `assembly upload`: uploads all files into one Assembly. If the job fails, and it has not read the standard input, the
 * same command can usually continue it.
 */
export const upload = Command.make(
  "upload",
  {
    paths: Argument.String("paths").pipe(
      Argument.withDescription("The files, folders (with -r) or patterns such as '*.jpg'; - is the standard input"),
      Argument.variadic({ min: 1 })
    ),
    recursive: switchFlag("recursive").pipe(
      Flag.withAlias("r"),
      Flag.withDescription("Upload folders with everything in them, and keep the folders in the names"),
      Flag.withDefault(false)
    ),
    path: Flag.String("path").pipe(
      Flag.withDescription("The folder in the Workspace to store the files in (default: the root)"),
      Flag.withMetavar("folder"),
      Flag.optional
    ),
    name: Flag.String("name").pipe(
      Flag.withMetavar("name"),
      Flag.withDescription("The name of the standard input; required with -"),
      Flag.optional
    ),
    template: Flag.String("template").pipe(
      Flag.withDescription("The Template that processes the files, by its id or name (default: store them)"),
      Flag.withMetavar("template"),
      Flag.withSchema(Template.IdOrName),
      Flag.optional
    ),
    steps: StepsFile.flag("the Steps"),
    ...Fields.flags,
    concurrency: WholeNumber.flag("concurrency", { minimum: 1, maximum: 100 }).pipe(
      Flag.withDescription("The number of files that are sent at the same time, 1 to 100 (default: 4)"),
      Flag.withDefault(4)
    ),
    limitRate: Rate.flag("limit-rate").pipe(
      Flag.withDescription("The maximum rate, such as 500k or 2.5M for 2.5 MiB a second (default: no limit)"),
      Flag.optional
    ),
    restart: switchFlag("restart").pipe(
      Flag.withDescription(
        "Upload again, even if an earlier command has uploaded the files; cancels its unfinished upload"
      ),
      Flag.withDefault(false)
    ),
    dryRun: switchFlag("dry-run").pipe(
      Flag.withDescription("Only check the files, and show what would be uploaded to where"),
      Flag.withDefault(false)
    ),
    json: switchFlag("json").pipe(Flag.withDescription("Print each event as a line of JSON"), Flag.withDefault(false)),
    journal: JournalFolder.flag
  },
  Effect.fnUntraced(function* ({
    concurrency,
    dryRun,
    journal,
    json,
    limitRate,
    name,
    paths,
    recursive,
    restart,
    ...flags
  }) {
    const { folder, params } = yield* paramsOf(flags)
    const files = yield* UploadPlan.make({
      paths,
      isRecursive: recursive,
      inputName: Option.getOrUndefined(name),
      folder
    })
    if (dryRun) return yield* UploadReport.rehearse(files, folder, json)
    const isNoted = UploadPlan.replayable(files) !== undefined
    const kept = isNoted ? yield* JournalFolder.of(journal) : Option.none()
    const at = Option.getOrElse(kept, () => "the memory")
    const job = Effect.gen(function* () {
      const memory = Option.isNone(kept)
        ? UnfinishedUploads.none
        : yield* UnfinishedUploads.make(kept.value, files, params)
      const isKept = Option.isSome(kept)
      const options = { params, concurrency, isRestarted: restart, isKept, isNoted, folder: at, isJson: json, memory }
      return yield* UploadRun.run(files, options)
    }).pipe(
      Effect.provide(StateFolder.journal(kept)),
      Effect.catchTag("JournalFailed", (error) => Effect.fail(JournalProblem.of(error, at, false) ?? error))
    )
    const limited = Option.match(limitRate, {
      onNone: () => job,
      onSome: (bytesPerSecond) => Effect.provide(job, Upload.layerBandwidth({ bytesPerSecond }))
    })
    const { isEarlier, progress, status } = yield* limited
    if (status === undefined) return
    if (progress !== undefined) yield* UploadReport.report(files, status, isEarlier ? undefined : progress)
    if (folder !== undefined) yield* UploadReport.checkPaths(files, status, folder)
    if (!json) yield* UploadReport.next(status, folder)
  })
).pipe(
  Command.validate((flags) => {
    const problem = contradiction(flags)
    return problem === undefined ? Effect.void : Effect.fail(new CliError.ValidationError({ message: problem }))
  }),
  Command.withDescription(
    "Upload files into a new Assembly and wait for its results. After a failure or Ctrl-C, run the same command again to continue."
  ),
  Command.withExamples([
    { command: "assembly upload video.mp4 cover.jpg", description: "Store two files in the Workspace" },
    { command: "assembly upload -r --path backup photos", description: "Store a folder below backup/" },
    { command: "assembly upload --template thumbnails video.mp4", description: "Process a file with a Template" },
    { command: "pg_dump db | assembly upload --name db.sql -", description: "Store the output of a program" }
  ])
)
