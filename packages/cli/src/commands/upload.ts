import type { Assembly } from "@assembly-effect/schema"
import * as Template from "@assembly-effect/schema/Template"
import { Upload } from "@assembly-effect/tus"
import { Argument, type Command, Flag } from "effect/cli"
import { Effect, Layer, Option } from "../internal/effect.ts"
import * as Document from "../internal/document.ts"
import * as UploadPlan from "../internal/uploadPlan.ts"
import * as UploadRun from "../internal/uploadRun.ts"
import { Cli, Failure, Output, Text } from "../internal/index.ts"
import * as Journal from "../internal/journal.ts"
import * as Shown from "../internal/assembly.ts"
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

/** The params of the Assembly. Without a Template and without Steps, the files are stored in `folder`. */
const paramsOf = Effect.fnUntraced(function* ({ path, steps, template, ...files }: Input) {
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
const problemOfPath = ({ path, steps, template }: Input): string | undefined => {
  if (Option.isNone(path)) return undefined
  if (Option.isSome(steps) || Option.isSome(template)) {
    return "--path is for the Workspace; with --template or --steps, the Steps decide where results are stored"
  }
  if (path.value.trim() === "") return "--path is empty"
  const folder = UploadPlan.folderOf(path.value)
  const problem = folder === "" ? undefined : UploadPlan.nameProblem(folder)
  return problem && `--path ${path.value}: ${problem}`
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

const limitRate = Cli.parsed(Cli.text("limit-rate", "bytes"), "bytes per second, such as 500k or 2.5M", parseRate)

/** A file with one path a line, or with a NUL after each path. */
const listIn = (text: string): ReadonlyArray<string> =>
  text.includes("\0")
    ? text.split("\0").filter((path) => path !== "")
    : text.split(/\r?\n/).filter((line) => line.trim() !== "")

const parameters = {
  paths: Argument.variadic(Cli.argument("paths")),
  recursive: Flag.withAlias(Cli.flag("recursive"), "r"),
  filesFrom: Cli.optional("files-from", "file"),
  include: Cli.repeated(Cli.text("include", "pattern")),
  exclude: Cli.repeated(Cli.text("exclude", "pattern")),
  path: Cli.optional("path", "folder"),
  name: Cli.optional("name", "name"),
  template: Flag.optional(Flag.withSchema(Cli.text("template", "template"), Template.IdOrName)),
  steps: Document.stepsFlag,
  ...Document.fieldsFlags,
  output: Flag.optional(Cli.output),
  overwrite: Cli.flag("overwrite"),
  noWait: Cli.flag("no-wait"),
  watch: Cli.flag("watch"),
  verify: Cli.flag("verify"),
  transport: Flag.withDefault(Flag.Literals("transport", ["tus", "form"]), "tus" as const),
  concurrency: Flag.optional(Cli.number("concurrency", [1, 100])),
  parallel: Flag.optional(Cli.number("parallel", [1, 100])),
  limitRate: Flag.optional(limitRate),
  restart: Cli.flag("restart"),
  dryRun: Cli.flag("dry-run"),
  json: Cli.jsonLines,
  journal: Journal.flag
}

type Input = Command.Command.Config.Infer<typeof parameters>

/** The flags that contradict others, and when they are given. */
const isGiven = {
  "-": ({ paths }: Input) => paths.includes("-"),
  "--no-wait": ({ noWait }: Input) => noWait,
  "--watch": ({ watch }: Input) => watch,
  "--output": ({ output }: Input) => Option.isSome(output),
  "--verify": ({ verify }: Input) => verify,
  "--transport form": ({ transport }: Input) => transport === "form",
  "--parallel": ({ parallel }: Input) => Option.isSome(parallel),
  "--dry-run": ({ dryRun }: Input) => dryRun,
  "--restart": ({ restart }: Input) => restart,
  "--files-from": ({ filesFrom }: Input) => Option.isSome(filesFrom)
} as const

/** Two flags that contradict each other, and why. */
const conflicts: ReadonlyArray<readonly [keyof typeof isGiven, keyof typeof isGiven, why: string]> = [
  ["--no-wait", "--output", "there are no results yet"],
  ["--no-wait", "--verify", "only the Status of a completed Assembly can be compared"],
  ["--transport form", "--parallel", "a form is one request"],
  ["--transport form", "-", "a form needs files that can be read again"],
  ["--watch", "--no-wait", "the command waits for every file"],
  ["--watch", "--dry-run", "files may come later"],
  ["--watch", "--restart", "a file is uploaded again when it changes"],
  ["--watch", "--files-from", "only folders can be watched"],
  ["--watch", "-", "only folders can be watched"]
]

/** What is wrong with flags that do not fit together. */
const problemOf = (input: Input): string | undefined => {
  const { fieldsFile, filesFrom, paths, recursive, steps, watch } = input
  if (paths.length === 0 && Option.isNone(filesFrom)) return "give files to upload, or a list of them with --files-from"
  const conflict = conflicts.find(([one, other]) => isGiven[one](input) && isGiven[other](input))
  if (conflict !== undefined) return `${conflict[0]} and ${conflict[1]} cannot be used together: ${conflict[2]}`
  const readers = Object.entries({ "--files-from": filesFrom, "--steps": steps, "--fields-file": fieldsFile })
    .flatMap(([name, path]) => (Option.contains(path, "-") ? [name] : []))
    .concat(paths.includes("-") ? ["the paths"] : [])
  if (readers.length > 1)
    return `${readers[0]} and ${readers[1]} both read the standard input (-), which can be read only once`
  if (watch && !recursive) return "--watch needs folders, with -r"
  return UploadPlan.patternProblem(input) ?? problemOfPath(input)
}

/**
 * `assembly upload`: uploads all files into one Assembly, or with `--watch` each file into its own. If the job fails,
 * and it has not read the standard input, the same command can usually continue it.
 */
export const upload = Cli.command(
  "upload",
  parameters,
  Effect.fnUntraced(function* (flags) {
    const { dryRun, filesFrom, json, noWait, output, overwrite, transport, watch } = flags
    const { folder, params } = yield* paramsOf(flags)
    const listed = Option.isSome(filesFrom) ? listIn(yield* Document.text(filesFrom.value)) : []
    const plan = { ...flags, listed, folder }
    const bytesPerSecond = Option.getOrUndefined(flags.limitRate)
    const limit = bytesPerSecond === undefined ? Layer.empty : Upload.layerBandwidth({ bytesPerSecond })
    /** Runs a job with its journal and its limit of the rate. */
    const withServices = (kept: Option.Option<string>) => Effect.provide(Layer.merge(Journal.layer(kept), limit))
    if (watch) {
      const Watch = yield* Effect.promise(() => import("../internal/uploadWatch.ts"))
      return yield* withServices(yield* Journal.folderOf(flags.journal))(Watch.run({ ...plan, params }))
    }
    const files = yield* UploadPlan.make(plan)
    const size = UploadPlan.totalSize(files) ?? 0n
    if (transport === "form" && size > UploadJob.mostInForm) {
      const [has, most] = [Text.bytes(size), Text.bytes(UploadJob.mostInForm)]
      return yield* Failure.usage(`--transport form: the files have ${has}, and a form has at most ${most}`)
    }
    const Download = yield* Effect.promise(() => import("../internal/download.ts"))
    // The folder for the results is checked before anything is sent.
    if (Option.isSome(output)) yield* Download.checkOutside(output.value, flags.recursive ? flags.paths : [])
    if (dryRun) return yield* UploadJob.rehearse(files, folder, json)
    if (Option.isSome(output)) yield* Download.prepare(output.value)
    const kept = UploadPlan.replayable(files) === undefined ? Option.none() : yield* Journal.folderOf(flags.journal)
    const at = Option.getOrUndefined(kept)
    const { isEarlier, progress, status } = yield* Effect.gen(function* () {
      const memory = at === undefined ? undefined : yield* Journal.make(at, files, params)
      return yield* UploadRun.run(files, { ...flags, params, memory })
    }).pipe(
      withServices(kept),
      Effect.catchTag("JournalFailed", (error) => Effect.fail(Journal.failureOf(error, at) ?? error))
    )
    if (status === undefined) return
    if (noWait) {
      if (json) return
      yield* Output.lines([status.assembly_id ?? ""])
      return yield* Shown.suggest(`wait ${status.assembly_id}`)
    }
    if (progress !== undefined) yield* UploadJob.report(files, status, isEarlier ? undefined : progress)
    if (folder !== undefined) yield* UploadJob.checkPaths(files, status, folder)
    if (Option.isSome(output)) {
      const concurrency = UploadJob.concurrencyOf(flags, files)
      return yield* Download.save(status, { steps: [], output: output.value, overwrite, concurrency, json })
    }
    // A download would bring the user the files that the command has only stored.
    if (!json && folder === undefined) yield* Shown.suggestFor(status)
  }),
  problemOf
)
