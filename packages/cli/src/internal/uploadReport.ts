/**
 * What `assembly upload` prints at its end.
 */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as CommandError from "../CommandError.ts"
import * as Format from "../Format.ts"
import * as Output from "../Output.ts"
import type * as ProgressBar from "../ProgressBar.ts"
import * as Table from "../Table.ts"
import * as Text from "./text.ts"
import * as UploadPlan from "../UploadPlan.ts"

interface Stored {
  readonly step: string
  readonly file: Assembly.File
}

/**
 * The results of the Assembly, without `:original`, which contains the uploads. If there are no results, the uploads of
 * the Assembly.
 */
const filesOf = ({ results, uploads }: Assembly.Status): ReadonlyArray<Stored> => {
  const made = Object.entries(results ?? {}).flatMap(([step, files]) =>
    step === ":original" ? [] : files.map((file) => ({ step, file }))
  )
  return made.length > 0 ? made : (uploads ?? []).map((file) => ({ step: ":original", file }))
}

const columns: ReadonlyArray<Table.Column<Stored>> = [
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

/** With more files than this, one line replaces the table. */
const mostListed = 10

/** Shows the files of the completed Assembly. */
export const report = Effect.fnUntraced(function* (
  files: ReadonlyArray<UploadPlan.Planned>,
  status: Assembly.Status,
  progress: ProgressBar.Progress
) {
  const found = filesOf(status)
  const layout = yield* Output.layout
  if (files.length <= mostListed) {
    yield* Output.lines<string>(["", ...idLines(status, layout.width)])
    return yield* Output.report(Table.render(columns, found, layout))
  }
  const took = Format.duration(Duration.millis(progress.now - progress.startedAt))
  const results = status.results === undefined || status.results === null ? "" : `, ${found.length} results`
  yield* Output.lines<string>([
    `${files.length} files, ${Format.bytes(progress.sent)}, in ${took}${results}`,
    ...idLines(status, layout.width)
  ])
})

/** Fails if a path in the Workspace differs from the name of its file, because the service chooses the path. */
export const checkPaths = (files: ReadonlyArray<UploadPlan.Planned>, { results }: Assembly.Status, folder: string) => {
  const paths = new Set((results?.["stored"] ?? []).flatMap(({ path }) => (path ? [path.normalize("NFC")] : [])))
  const prefix = folder === "" ? "" : `${folder.replace(/^\/|\/+$/g, "")}/`
  const moved = files.map(({ name }) => prefix + name.normalize("NFC")).filter((name) => !paths.has(name))
  return paths.size === 0 || moved.length === 0 || folder.includes("${")
    ? Effect.void
    : Effect.fail(new CommandError.StoredElsewhere({ names: moved, files: files.length }))
}

/** Shows what would be uploaded. */
export const rehearse = Effect.fnUntraced(function* (files: ReadonlyArray<UploadPlan.Planned>, isJson: boolean) {
  if (isJson) {
    return yield* Effect.forEach(
      files,
      ({ name, path, source: { size } }) =>
        Output.jsonLine({ event: "Planned", path, name, size: size === undefined ? null : String(size) }),
      { discard: true }
    )
  }
  const size = UploadPlan.totalSize(files)
  const total = size === undefined ? "an unknown size" : Format.bytes(size)
  yield* Output.lines<string>([
    ...files.map(({ name, path }) => (path === name ? path : `${path} as ${name}`)),
    `${files.length} ${files.length === 1 ? "file" : "files"}, ${total}; nothing was uploaded`
  ])
})
