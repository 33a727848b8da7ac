import type * as Assembly from "@assembly-effect/schema/Assembly"
import type * as AssemblyUploadError from "@assembly-effect/tus/AssemblyUploadError"
import * as ResumableAssemblyUpload from "@assembly-effect/tus/ResumableAssemblyUpload"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Format from "../Format.ts"
import * as JobProgress from "../JobProgress.ts"
import * as LocalFile from "../LocalFile.ts"
import * as Output from "../Output.ts"
import * as StateFolder from "../StateFolder.ts"
import * as Table from "../Table.ts"
import * as UploadProgress from "../UploadProgress.ts"

const handle = { ":original": { robot: "/upload/handle" } }
const store = { ...handle, stored: { robot: "/transloadit/store", use: ":original" } }

interface Stored {
  readonly step: string
  readonly file: Assembly.File
}

/** The results of the Assembly, or its uploads if no Step had a result. */
const filesOf = ({ results, uploads }: Assembly.Status): ReadonlyArray<Stored> => {
  const made = Object.entries(results ?? {}).flatMap(([step, files]) => files.map((file) => ({ step, file })))
  return made.length > 0 ? made : (uploads ?? []).map((file) => ({ step: ":original", file }))
}

const columns: ReadonlyArray<Table.Column<Stored>> = [
  { title: "Step", value: ({ step }) => step },
  { title: "File", value: ({ file }) => file.path ?? file.name ?? "" },
  {
    title: "Size",
    align: "right",
    value: ({ file }) => (typeof file.size === "number" ? Format.bytes(file.size) : "")
  },
  { title: "Asset", value: ({ file }) => file.asset_id ?? "", keep: true },
  { title: "SHA-256", value: ({ file }) => file.sha256 ?? "" }
]

/** Two files have the same name, so one would replace the other at the service. Nothing was sent. */
export class SameName extends Schema.TaggedError<SameName>()("SameName", {
  name: Schema.String,
  paths: Schema.Array(Schema.String)
}) {
  override get message() {
    return `${this.paths.join(" and ")} have the same name, ${this.name}: upload them one by one, or rename one`
  }
}

const checkNames = (files: ReadonlyArray<LocalFile.LocalFile>): Effect.Effect<void, SameName> => {
  const same = [...Map.groupBy(files, ({ name }) => name)].find(([, found]) => found.length > 1)
  if (same === undefined) return Effect.void
  const [name, found] = same
  return Effect.fail(new SameName({ name, paths: found.map(({ path }) => path) }))
}

/**
 * The maximum number of retries. All retries together last about seven minutes, so a server restart or a lost network
 * may last as long.
 */
const maxRetries = 20

/** Whether the same command would continue the job. */
const isContinued = (error: AssemblyUploadError.ResumableAssemblyUploadError): boolean =>
  !["AssemblyFailed", "AssemblyCanceled", "AssemblyAborted", "InvalidRequest"].includes(error._tag) &&
  (error._tag !== "FilesFailed" || error.assembly === "kept")

/** Uploads the files as one job and shows its progress. Returns the Status of the Assembly. */
const run = (
  files: ReadonlyArray<LocalFile.LocalFile>,
  options: Pick<ResumableAssemblyUpload.Options, "params" | "restart"> & { readonly isKept: boolean }
) =>
  Effect.gen(function* () {
    let status: Assembly.Status | undefined
    const continued = Effect.suspend(() =>
      options.isKept && status !== undefined
        ? Output.error("the upload is kept; run the same command again to continue it")
        : Effect.void
    )
    const events = ResumableAssemblyUpload.events({
      params: options.params,
      restart: options.restart,
      files: files.map(({ name, source }) => ({ source, filename: name })),
      concurrency: 1,
      upload: { maxRetries },
      wait: { interval: "100 millis" }
    }).pipe(
      Stream.tap((event) =>
        Effect.sync(() => {
          if ("status" in event) status = event.status
        })
      )
    )
    yield* UploadProgress.follow(events, JobProgress.view(files.map(({ name }) => name))).pipe(
      Effect.tapError((error) => (isContinued(error) ? continued : Effect.void)),
      Effect.onInterrupt(() => continued)
    )
    return status
  })

/**
 * `assembly upload`: uploads all files into one Assembly, resumably. After a failure, the same command continues the
 * job.
 */
export const upload = Command.make(
  "upload",
  {
    paths: Argument.String("paths").pipe(
      Argument.withDescription("The files to upload"),
      Argument.variadic({ min: 1 })
    ),
    template: Flag.String("template").pipe(
      Flag.withDescription("The Template that processes the files (default: store them in the Workspace)"),
      Flag.optional
    ),
    restart: Flag.Boolean("restart").pipe(
      Flag.withDescription("Cancel the unfinished upload of an earlier command, and start again"),
      Flag.withDefault(false)
    ),
    journal: Flag.String("journal").pipe(
      Flag.withDescription("The folder for unfinished uploads (default: in the state folder of the user)"),
      Flag.optional
    )
  },
  Effect.fnUntraced(function* ({ journal, paths, restart, template }) {
    const files = yield* Effect.forEach(paths, LocalFile.open)
    yield* checkNames(files)
    const folder = Option.isSome(journal) ? journal : yield* StateFolder.uploads
    const params = Option.match(template, {
      onNone: () => ({ steps: store }),
      onSome: (templateId) => ({ templateId })
    })
    const status = yield* run(files, { params, restart, isKept: Option.isSome(folder) }).pipe(
      Effect.provide(StateFolder.journal(folder))
    )
    if (status === undefined) return
    yield* Output.lines(["", `Assembly ${status.assembly_id}`])
    yield* Output.report(Table.render(columns, filesOf(status), yield* Output.layout))
  })
).pipe(
  Command.withDescription(
    "Upload files into a new Assembly and wait for its results; run again to continue after a failure"
  ),
  Command.withExamples([
    { command: "assembly upload video.mp4 cover.jpg", description: "Store two files in the Workspace" },
    { command: "assembly upload --template <id> video.mp4", description: "Process a file with a Template" }
  ])
)
