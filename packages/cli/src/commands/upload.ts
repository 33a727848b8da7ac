import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Template from "@assembly-effect/schema/Template"
import * as Upload from "@assembly-effect/tus/Upload"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Document from "../internal/document.ts"
import * as UploadPlan from "../internal/uploadPlan.ts"
import * as UploadRun from "../internal/uploadRun.ts"
import * as Cli from "../internal/cli.ts"
import * as Journal from "../internal/journal.ts"
import * as UploadJob from "../internal/uploadJob.ts"

/** The Steps that store every uploaded file in `folder` of the Workspace. */
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

/** The params of the Assembly. Without a Template and without Steps, the files are stored in `folder`. */
const paramsOf = Effect.fnUntraced(function* ({ path, steps, template, ...files }: Flags) {
  const given = Option.getOrUndefined(yield* Document.steps(Template.Content, steps))
  const fields = yield* Document.fields(files)
  const isStored = given === undefined && Option.isNone(template)
  const folder = isStored ? UploadPlan.folderOf(Option.getOrElse(path, () => "")) : undefined
  const params: Assembly.CreateParams = {
    ...(folder === undefined ? {} : { steps: storing(folder) }),
    ...(given?.steps === undefined ? {} : { steps: given.steps }),
    ...Cli.given({ templateId: template, fields })
  }
  return { params, folder }
})

/** The problem of `--path`: another flag contradicts it, or its value is empty or invalid. */
const problemOfPath = ({ path, steps, template }: Flags): string | undefined => {
  if (Option.isNone(path)) return undefined
  if (Option.isSome(steps) || Option.isSome(template)) {
    return "--path is for the Workspace; with --template or --steps, the Steps decide where results are stored"
  }
  if (path.value.trim() === "") return "--path is empty"
  const problem = UploadPlan.folderProblem(UploadPlan.folderOf(path.value))
  return problem === undefined ? undefined : `--path ${path.value}: ${problem}`
}

/**
 * Parses a number of bytes per second. `k`, `M` and `G` mean KiB, MiB and GiB, which are also the units of the
 * progress. `kB`, `MB` and `GB` are powers of 1000.
 */
const parseRate = (text: string): Option.Option<number> => {
  const [, amount, unit = "", suffix = ""] = /^(\d{1,9}(?:\.\d{1,3})?)([kmg]?)(i?b)?(?:\/s)?$/i.exec(text) ?? []
  const base = suffix.toLowerCase() === "b" ? 1000 : 1024
  const bytes = Math.floor(Number(amount) * base ** ["", "k", "m", "g"].indexOf(unit.toLowerCase()))
  return bytes >= 1 ? Option.some(bytes) : Option.none()
}

const limitRate = Cli.parsed(
  Cli.text("limit-rate", "bytes"),
  "limit-rate",
  "bytes per second, such as 500k or 2.5M",
  (value) => Effect.succeed(parseRate(value))
)

/**
 * `assembly upload`: uploads all files into one Assembly. If the job fails, and it has not read the standard input, the
 * same command can usually continue it.
 */
export const upload = Cli.command(
  "upload",
  {
    paths: Argument.variadic(Cli.argument("paths"), { min: 1 }),
    recursive: Flag.withAlias(Cli.flag("recursive"), "r"),
    path: Cli.optional("path", "folder"),
    name: Cli.optional("name", "name"),
    template: Flag.optional(Flag.withSchema(Cli.text("template", "template"), Template.IdOrName)),
    steps: Document.stepsFlag,
    ...Document.fieldsFlags,
    concurrency: Flag.withDefault(Cli.number("concurrency", [1, 100]), 4),
    limitRate: Flag.optional(limitRate),
    restart: Cli.flag("restart"),
    dryRun: Cli.flag("dry-run"),
    output: Flag.optional(Cli.output),
    overwrite: Cli.flag("overwrite"),
    json: Cli.json,
    journal: Journal.flag
  },
  Effect.fnUntraced(function* ({
    concurrency,
    dryRun,
    json,
    limitRate: rate,
    name,
    output,
    overwrite,
    paths,
    recursive,
    restart,
    ...flags
  }) {
    const { folder, params } = yield* paramsOf(flags)
    const inputName = Option.getOrUndefined(name)
    const files = yield* UploadPlan.make({ paths, isRecursive: recursive, inputName, folder })
    if (dryRun) return yield* UploadJob.rehearse(files, folder, json)
    const isReplayable = UploadPlan.replayable(files) !== undefined
    const kept = isReplayable ? yield* Journal.folderOf(flags.journal) : Option.none()
    const at = Option.getOrUndefined(kept)
    const job = Effect.gen(function* () {
      const memory = at === undefined ? Journal.none : yield* Journal.make(at, files, params)
      return yield* UploadRun.run(files, {
        params,
        concurrency,
        isRestarted: restart,
        isJson: json,
        folder: at,
        memory
      })
    }).pipe(
      Effect.provide(Journal.layer(kept)),
      Effect.catchTag("JournalFailed", (error) =>
        Effect.fail(Journal.failureOf(error, at ?? "the memory", false) ?? error)
      )
    )
    const { isEarlier, progress, status } = yield* Option.match(rate, {
      onNone: () => job,
      onSome: (bytesPerSecond) => Effect.provide(job, Upload.layerBandwidth({ bytesPerSecond }))
    })
    if (status === undefined) return
    if (progress !== undefined) yield* UploadJob.report(files, status, isEarlier ? undefined : progress)
    if (folder !== undefined) yield* UploadJob.checkPaths(files, status, folder)
    if (Option.isSome(output)) {
      const Download = yield* Effect.promise(() => import("../internal/download.ts"))
      return yield* Download.save(status, { steps: [], output: output.value, overwrite, concurrency, json })
    }
    if (!json) yield* UploadJob.next(status, folder)
  }),
  (flags) => problemOfPath(flags)
)
