/**
 * What `assembly upload` prints at its end.
 */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Effect from "effect/Effect"
import * as CommandError from "../CommandError.ts"
import * as Format from "../Format.ts"
import * as Output from "../Output.ts"
import * as ProgressBar from "../ProgressBar.ts"
import * as Table from "../Table.ts"
import * as UploadJob from "../UploadJob.ts"
import * as Cells from "./cells.ts"
import * as NextCommand from "./nextCommand.ts"
import * as ResultFiles from "./resultFiles.ts"
import * as Text from "./text.ts"
import * as UploadPlan from "../UploadPlan.ts"

/** The results of the Assembly, or its uploads if the Assembly has no results. */
const filesOf = (status: Assembly.Status): ReadonlyArray<ResultFiles.ResultFile> => {
  const made = ResultFiles.of(status)
  return made.length > 0 ? made : (status.uploads ?? []).map((file) => ({ step: ":original", file }))
}

const columns: ReadonlyArray<Table.Column<ResultFiles.ResultFile>> = [
  { title: "Step", rank: 3, value: ({ step }) => step },
  { title: "File", rank: 1, least: 10, value: ({ file }) => file.path ?? file.name ?? "" },
  {
    title: "Size",
    rank: 4,
    align: "right",
    value: ({ file }) => (typeof file.size === "number" ? Format.bytes(file.size) : "")
  },
  { title: "Asset", rank: 2, value: ({ file }) => file.asset_id ?? "", keep: true },
  { title: "SHA-256", rank: 5, value: ({ file }) => file.sha256 ?? "" }
]

/** The word `Assembly` and its id, on two lines if the terminal is too narrow. */
const idLines = ({ assembly_id }: Assembly.Status, width: number | undefined): ReadonlyArray<string> =>
  Text.wrap(`Assembly ${assembly_id}`, width ?? Infinity)

/** After an upload of more files than this, one line with the totals replaces the table of files. */
const mostListed = 10

const totalOf = (files: ReadonlyArray<UploadPlan.Planned>): string => {
  const size = UploadPlan.totalSize(files)
  return `${files.length} ${files.length === 1 ? "file" : "files"}, ${size === undefined ? "an unknown size" : Format.bytes(size)}`
}

/** Shows the files of the completed Assembly. `progress` is undefined if an earlier command has uploaded the files. */
export const report = Effect.fnUntraced(function* (
  files: ReadonlyArray<UploadPlan.Planned>,
  status: Assembly.Status,
  progress: ProgressBar.Progress | undefined
) {
  const found = filesOf(status)
  const layout = yield* Output.layout
  if (files.length <= mostListed) {
    yield* Output.lines<string>(["", ...idLines(status, layout.width)])
    return yield* Output.report(Table.render(columns, found, layout))
  }
  const how = progress === undefined ? "uploaded before" : `in ${Format.duration(ProgressBar.elapsed(progress))}`
  const results = status.results === undefined || status.results === null ? "" : `, ${ResultFiles.counted(status)}`
  yield* Output.lines<string>([`${totalOf(files)}, ${how}${results}`, ...idLines(status, layout.width)])
})

/**
 * Tells a person at a terminal what to do next. If the command has only stored the files (in `folder`), the next
 * command lists them: a download would only bring the user the same files.
 */
export const next = (status: Assembly.Status, folder: string | undefined): Effect.Effect<void> =>
  folder === undefined
    ? NextCommand.suggestFor(status)
    : NextCommand.suggest({ args: `results list ${status.assembly_id}` })

/**
 * Fails if the service has stored a file under another path than its name in `folder`. Checks nothing if `folder`
 * contains a variable (`${…}`), or if the Status names no stored path.
 */
export const checkPaths = (files: ReadonlyArray<UploadPlan.Planned>, { results }: Assembly.Status, folder: string) => {
  const paths = new Set((results?.["stored"] ?? []).flatMap(({ path }) => (path ? [path.normalize("NFC")] : [])))
  const moved = files
    .map(({ name }) => UploadPlan.targetOf(folder, name).normalize("NFC"))
    .filter((name) => !paths.has(name))
  return paths.size === 0 || moved.length === 0 || folder.includes("${")
    ? Effect.void
    : Effect.fail(new CommandError.StoredElsewhere({ names: moved, files: files.length }))
}

const sizeOf = ({ source: { size } }: UploadPlan.Planned): string =>
  size === undefined ? Cells.unknown : Format.bytes(size)

/**
 * Shows what would be uploaded, and where it would be stored. If `folder` is undefined, the Steps decide where the
 * files are stored, and the names of the files at the service are shown instead.
 */
export const rehearse = Effect.fnUntraced(function* (
  files: ReadonlyArray<UploadPlan.Planned>,
  folder: string | undefined,
  isJson: boolean
) {
  const targetOf = ({ name }: UploadPlan.Planned): string =>
    folder === undefined ? name : UploadPlan.targetOf(folder, name)
  if (isJson) {
    return yield* Effect.forEach(
      files,
      (file) =>
        Output.jsonLine({
          event: "Planned",
          path: file.path,
          name: file.name,
          target: folder === undefined ? null : targetOf(file),
          size: file.source.size === undefined ? null : UploadJob.toJsonBytes(file.source.size)
        }),
      { discard: true }
    )
  }
  const planned: ReadonlyArray<Table.Column<UploadPlan.Planned>> = [
    { title: "Source", rank: 1, least: 10, value: ({ path }) => path },
    { title: folder === undefined ? "Name" : "Target", rank: 2, least: 10, value: targetOf },
    { title: "Size", rank: 3, align: "right", value: sizeOf, keep: true }
  ]
  yield* Output.report(Table.render(planned, files, yield* Output.layout))
  yield* Output.lines<string>(["", `${totalOf(files)}; nothing was uploaded`])
})
