import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Template from "@assembly-effect/schema/Template"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as AssemblyUploadEvent from "@assembly-effect/tus/AssemblyUploadEvent"
import * as ResumableAssemblyUpload from "@assembly-effect/tus/ResumableAssemblyUpload"
import * as UploadBandwidth from "@assembly-effect/tus/UploadBandwidth"
import * as Argument from "effect/cli/Argument"
import * as CliError from "effect/cli/CliError"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ErrorLine from "../ErrorLine.ts"
import * as ExitCode from "../ExitCode.ts"
import * as Document from "../internal/document.ts"
import * as Fields from "../internal/fields.ts"
import * as Rate from "../internal/rate.ts"
import * as UploadJob from "../UploadJob.ts"
import * as UploadReport from "../internal/uploadReport.ts"
import * as JobProgress from "../JobProgress.ts"
import * as Output from "../Output.ts"
import * as StandardError from "../StandardError.ts"
import * as StateFolder from "../StateFolder.ts"
import * as UploadPlan from "../UploadPlan.ts"
import * as UploadProgress from "../UploadProgress.ts"

/** The Steps that store every file in the Workspace, in a folder if one is given. */
const storing = (folder: string | undefined): Readonly<Record<string, Assembly.Step>> => ({
  ":original": { robot: "/upload/handle" },
  stored: {
    robot: "/transloadit/store",
    use: ":original",
    ...(folder === undefined ? {} : { path: `${folder.replace(/\/+$/, "")}/\${file.name}` })
  }
})

/**
 * The maximum number of retries. All retries together last about seven minutes, so an upload survives a server restart
 * or a network failure of this length.
 */
const maxRetries = 20

/** The pause before a job continues after its service was unreachable, and the maximum number of such pauses. */
const pause = Duration.seconds(5)
const maxPauses = 60

/** Whether the same command would continue the job after this error. */
const isContinued = (error: UploadJob.JobError): boolean =>
  !["AssemblyFailed", "AssemblyCanceled", "AssemblyAborted", "InvalidRequest"].includes(error._tag) &&
  (error._tag !== "FilesFailed" || error.assembly === "kept")

interface Settings {
  readonly params: Assembly.CreateParams
  readonly concurrency: number
  readonly isRestarted: boolean
  readonly isKept: boolean
  readonly isJson: boolean
}

/** The events of the job. A later command can continue only the uploads of files that can be read again. */
const eventsOf = (files: ReadonlyArray<UploadPlan.Planned>, { concurrency, isJson, isRestarted, params }: Settings) => {
  const options = {
    params,
    concurrency,
    upload: { maxRetries },
    wait: { interval: "100 millis" },
    progressInterval: isJson ? "1 second" : undefined
  } as const
  const replayable = UploadPlan.replayable(files)
  const job: Stream.Stream<
    Exclude<UploadJob.JobEvent, { readonly _tag: "Executing" }>,
    UploadJob.JobError,
    StateFolder.JobServices
  > = replayable === undefined
    ? AssemblyUpload.events({
        ...options,
        cancelOnInterrupt: true,
        files: files.map(({ name, source }) => ({ source, filename: name }))
      })
    : ResumableAssemblyUpload.events({
        ...options,
        restart: isRestarted,
        files: replayable.map(({ name, source }) => ({ source, filename: name }))
      })
  return UploadJob.withWork(job)
}

/** Shows the events as progress, or writes them as lines of JSON. Returns the final progress, if it was shown. */
const show = <E, R>(events: Stream.Stream<UploadJob.JobEvent, E, R>, names: ReadonlyArray<string>, isJson: boolean) =>
  isJson
    ? Stream.runForEach(events, (event) =>
        Effect.flatMap(UploadJob.toRecords(event, names), (records) => Effect.forEach(records, Output.jsonLine))
      ).pipe(
        Effect.tapError((error) =>
          Output.jsonLine({
            event: "Failed",
            message: ErrorLine.fromError(error),
            exit_code: ExitCode.fromError(error)
          })
        ),
        Effect.as(undefined)
      )
    : StandardError.show(UploadProgress.follow(events, JobProgress.view(names)))

/** Uploads the files as one job. Returns the Status of the Assembly and the final progress. */
const run = (files: ReadonlyArray<UploadPlan.Planned>, settings: Settings) =>
  Effect.gen(function* () {
    let status: Assembly.Status | undefined
    const fate = Effect.suspend(() => {
      if (status === undefined) return Effect.void
      if (settings.isKept) return Output.error("the upload is kept; run the same command again to continue it")
      return UploadPlan.replayable(files) === undefined
        ? Output.error("the Assembly was canceled, because the standard input cannot be read again")
        : Effect.void
    })
    // A job waits for an unreachable service only if it has an Assembly. Without an Assembly, the address of the
    // service may be wrong.
    const isWaitedFor = (error: UploadJob.JobError, pauses: number): boolean =>
      settings.isKept &&
      status !== undefined &&
      pauses < maxPauses &&
      (error._tag === "TransportFailure" || error._tag === "TimedOut")
    const attempt = (pauses: number): ReturnType<typeof eventsOf> =>
      eventsOf(files, pauses === 0 ? settings : { ...settings, isRestarted: false }).pipe(
        Stream.tap((event) =>
          Effect.sync(() => {
            if ("status" in event) status = event.status
          })
        ),
        Stream.catchIf(
          (error) => isWaitedFor(error, pauses),
          (error) =>
            Stream.fromEffect(
              Effect.map(Clock.currentTimeMillis, (now) =>
                AssemblyUploadEvent.Waiting({
                  reason: ErrorLine.fromError(error),
                  until: now + Duration.toMillis(pause)
                })
              )
            ).pipe(
              Stream.concat(Stream.drain(Stream.fromEffect(Effect.sleep(pause)))),
              Stream.concat(Stream.suspend(() => attempt(pauses + 1)))
            )
        )
      )
    const events = attempt(0)
    const names = files.map(({ name }) => name)
    const progress = yield* show(events, names, settings.isJson).pipe(
      Effect.tapError((error) => (settings.isKept && isContinued(error) ? fate : Effect.void)),
      Effect.onInterrupt(() => fate)
    )
    return { status, progress }
  })

interface Flags {
  readonly path: Option.Option<string>
  readonly template: Option.Option<string>
  readonly steps: Option.Option<string>
  readonly fields: Option.Option<Readonly<Record<string, string>>>
}

/** The params of the Assembly. Without a Template and without Steps, the files are stored in the Workspace. */
const paramsOf = Effect.fnUntraced(function* ({ fields, path, steps, template }: Flags) {
  const given = Option.getOrUndefined(yield* Document.readGiven(Template.Content, steps))
  const isStored = given === undefined && Option.isNone(template)
  const params: Assembly.CreateParams = {
    ...(isStored ? { steps: storing(Option.getOrUndefined(path)) } : {}),
    ...(given?.steps === undefined ? {} : { steps: given.steps }),
    ...(Option.isSome(template) ? { templateId: template.value } : {}),
    ...(Option.isSome(fields) ? { fields: fields.value } : {})
  }
  return { params, isStored }
})

/** The problem, if two flags contradict each other. */
const contradiction = ({ path, steps, template }: Flags): string | undefined => {
  if (Option.isSome(path) && (Option.isSome(steps) || Option.isSome(template))) {
    return "--path is for the Workspace; with --template or --steps, the Steps decide where results are stored"
  }
  return Option.isSome(path) && path.value.trim() === "" ? "--path is empty" : undefined
}

/**
 * `assembly upload`: uploads all files into one Assembly, resumably. After a failure, the same command continues the
 * job.
 */
export const upload = Command.make(
  "upload",
  {
    paths: Argument.String("paths").pipe(
      Argument.withDescription("The files, folders (with -r) or patterns such as '*.jpg'; - is the standard input"),
      Argument.variadic({ min: 1 })
    ),
    recursive: Flag.Boolean("recursive").pipe(
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
      Flag.withDescription("The name of the standard input; required with -"),
      Flag.optional
    ),
    template: Flag.String("template").pipe(
      Flag.withDescription("The Template that processes the files (default: store them in the Workspace)"),
      Flag.withMetavar("id"),
      Flag.optional
    ),
    steps: Flag.String("steps").pipe(
      Flag.withDescription('A JSON file with the Steps, such as {"steps": …}, as in a Template'),
      Flag.withMetavar("file"),
      Flag.optional
    ),
    fields: Fields.flag("fields").pipe(
      Flag.withDescription("A field of the Assembly, which Steps read as ${fields.key}; may be repeated"),
      Flag.optional
    ),
    concurrency: Flag.Int("concurrency").pipe(
      Flag.withDescription("The number of files that are sent at the same time (default: 4)"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))),
      Flag.withDefault(4)
    ),
    limitRate: Rate.flag("limit-rate").pipe(
      Flag.withDescription("The maximum number of bytes a second, such as 500k or 2.5M (default: no limit)"),
      Flag.optional
    ),
    restart: Flag.Boolean("restart").pipe(
      Flag.withDescription("Cancel the unfinished upload of an earlier command, and start again"),
      Flag.withDefault(false)
    ),
    dryRun: Flag.Boolean("dry-run").pipe(
      Flag.withDescription("Only check the files, and show what would be uploaded"),
      Flag.withDefault(false)
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print each event as a line of JSON"),
      Flag.withDefault(false)
    ),
    journal: Flag.String("journal").pipe(
      Flag.withDescription(
        "The folder for unfinished uploads (default: $XDG_STATE_HOME/assembly/uploads, or ~/.local/state/assembly/uploads)"
      ),
      Flag.withMetavar("folder"),
      Flag.optional
    )
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
    const files = yield* UploadPlan.make({
      paths,
      isRecursive: recursive,
      inputName: Option.getOrUndefined(name)
    })
    const { isStored, params } = yield* paramsOf(flags)
    if (dryRun) return yield* UploadReport.rehearse(files, json)
    const folder = Option.isSome(journal) ? journal : yield* StateFolder.uploads
    const isKept = Option.isSome(folder) && UploadPlan.replayable(files) !== undefined
    const job = run(files, { params, concurrency, isRestarted: restart, isKept, isJson: json }).pipe(
      Effect.provide(StateFolder.journal(folder))
    )
    const limited = Option.match(limitRate, {
      onNone: () => job,
      onSome: (bytesPerSecond) => Effect.provide(job, UploadBandwidth.layer({ bytesPerSecond }))
    })
    const { progress, status } = yield* limited
    if (status === undefined) return
    if (progress !== undefined) yield* UploadReport.report(files, status, progress)
    if (isStored)
      yield* UploadReport.checkPaths(
        files,
        status,
        Option.getOrElse(flags.path, () => "")
      )
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
    { command: "assembly upload --template <id> video.mp4", description: "Process a file with a Template" },
    { command: "pg_dump db | assembly upload --name db.sql -", description: "Store the output of a program" }
  ])
)
