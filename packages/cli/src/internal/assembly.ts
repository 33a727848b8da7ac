/** The Status of an Assembly for people: its state, its facts, its results, and what to do next. */
import { Assembly } from "@assembly-effect/schema"
import { TerminalCapabilities } from "effect/cli"
import { DateTime, Duration, Effect, Option } from "./effect.ts"
import * as Table from "./table.ts"
import * as Text from "./text.ts"
import * as Output from "./output.ts"
import * as Results from "@assembly-effect/api/Results"

/** The fields of a Status, or of a list entry, that determine the state. */
type Standing = Pick<Assembly.Status, "ok" | "error">

/** The name of the state, as in `assembly list --type`, which has no name for `replaying`. */
export const state = (standing: Standing): string =>
  Assembly.errorCode(standing) === undefined
    ? standing.ok?.replace(/^ASSEMBLY_/, "").toLowerCase() || Table.unknown
    : "failed"

/** As {@link state}, in at most 9 cells for the states of today. */
export const shortState = (standing: Standing): string => state(standing).replace("request_", "")

/** Paints a text in the colour of the state. */
export const paint = (text: string, standing: Standing, style: Text.Style): string => {
  const found = Assembly.state(standing)
  return found === "Failed" ? style.red(text) : found === "Completed" ? style.green(text) : style.yellow(text)
}

/** The received bytes, such as `10.0 MiB`, or `3.0 MiB of 10.0 MiB` if more bytes are expected. */
const received = ({ bytes_expected: expected, bytes_received: bytes }: Assembly.Status): string | undefined => {
  if (typeof bytes !== "number") return undefined
  const isLess = typeof expected === "number" && expected > bytes
  return isLess ? `${Text.bytes(bytes)} of ${Text.bytes(expected)}` : Text.bytes(bytes)
}

const uploads = (status: Assembly.Status): string | undefined => {
  const { expected_tus_uploads: expected, finished_tus_uploads: finished } = status
  return typeof expected !== "number" || expected === 0 ? undefined : `${finished ?? 0} of ${expected}`
}

/** When the Assembly was created, or the text of the service if it is no date. */
export const createdAt = (text: string | null | undefined): string | undefined =>
  text ? Option.match(DateTime.make(text), { onNone: () => text, onSome: Table.minute }) : undefined

/** How long ago the Assembly was created. */
export const age = (text: string, now: DateTime.DateTime): string =>
  Table.age(Option.getOrUndefined(DateTime.make(text)), now)

/** The facts of a Status. */
export const facts = (status: Assembly.Status): ReadonlyArray<Table.Fact> => {
  const { execution_duration: seconds } = status
  return [
    ["Assembly", status.assembly_id],
    ["State", state(status)],
    ["Error", Assembly.errorCode(status)],
    ["Message", status.message],
    ["Created (UTC)", createdAt(status.start_date)],
    ["Region", status.region],
    ["Template", status.template_id],
    ["Files", uploads(status)],
    ["Received", received(status)],
    ["Duration", typeof seconds === "number" ? Text.duration(Duration.seconds(seconds)) : undefined],
    ["Results", String(total(status))]
  ]
}

/** The state, the error code, the progress until the end, and the number of results, in one line. */
export const line = (status: Assembly.Status): string => {
  const [files, bytes] = Assembly.isOver(status) ? [] : [uploads(status), received(status)]
  const parts = [
    state(status),
    Assembly.errorCode(status),
    files && `${files} files`,
    bytes && `${bytes} received`,
    total(status) > 0 ? counted(status) : undefined
  ]
  return parts.filter((part) => part !== undefined && part !== "").join(", ")
}

/**
 * Names the next command after the output of a command. The line is only for a person: it is written to the standard
 * error, and only if both outputs are terminals. `first` is what the user must do before the command.
 */
export const suggest = Effect.fnUntraced(function* (args: string | undefined, first?: string) {
  const { canAnimate } = yield* TerminalCapabilities.TerminalCapabilities
  const columns = yield* Output.standardError.columns
  if (args === undefined || !canAnimate || columns === 0) return
  yield* Output.next(`Next: ${first === undefined ? "" : `${first}, then `}assembly ${args}`)
})

/** What a user may do next with an Assembly: the arguments of {@link suggest}. */
export const nextOf = (status: Assembly.Status): Parameters<typeof suggest> => {
  const { assembly_id: id } = status
  if (typeof id !== "string") return [undefined]
  if (!Assembly.isOver(status)) return [`wait ${id}`]
  if (Assembly.errorCode(status) !== undefined) {
    // A replay has only the files that arrived, and by default the Template as it was.
    if (!status.uploads?.length) return [undefined]
    return [`replay ${id}${status.template_id ? " --reparse-template" : ""}`, "correct the cause"]
  }
  return [of(status).some(hasUrl) ? `results download ${id} -o results` : undefined]
}

/** Names what a user may do next with an Assembly. */
export const suggestFor = (status: Assembly.Status): Effect.Effect<void> => suggest(...nextOf(status))

/** A file, and the Step that made or received it. */
export interface ResultFile {
  readonly step: string
  readonly file: Assembly.File
}

/** The Step whose files are the uploaded files of the Assembly. Results are the files of all other Steps. */
const input = ":original"

const { compare } = new Intl.Collator("en", { numeric: true })

const nameOf = ({ name, path }: Assembly.File): string => path ?? name ?? ""

/** The Steps that have results, sorted by name. */
export const stepsOf = (status: Pick<Assembly.Status, "results">): ReadonlyArray<string> =>
  [...Results.of(status)]
    .flatMap(([step, files]) => (step === input || files.length === 0 ? [] : [step]))
    .toSorted(compare)

/**
 * The results of an Assembly, or the files of the given Steps, which may include `:original`. The files are sorted by
 * Step and by name, because the order of the Status depends on which file was finished first.
 */
export const of = (
  status: Pick<Assembly.Status, "results">,
  steps: ReadonlyArray<string> = stepsOf(status)
): ReadonlyArray<ResultFile> =>
  [...new Set(steps)]
    .toSorted(compare)
    .flatMap((step) =>
      (Results.of(status).get(step) ?? [])
        .toSorted((one, other) => compare(nameOf(one), nameOf(other)))
        .map((file) => ({ step, file }))
    )

/** The number of results. */
export const total = (status: Pick<Assembly.Status, "results">): number =>
  stepsOf(status).reduce((sum, step) => sum + (Results.of(status).get(step)?.length ?? 0), 0)

/** The number of results in words, such as `3 results`. */
export const counted = (status: Pick<Assembly.Status, "results">): string =>
  total(status) === 1 ? "1 result" : `${total(status)} results`

/** Whether a file can be downloaded. A file that no Step exports may have no URL. */
export const hasUrl = ({ file }: ResultFile): boolean => Boolean(file.ssl_url ?? file.url)

/** The columns of a table of files. Only files in the Workspace have an asset. */
export const columns = (files: ReadonlyArray<ResultFile>): ReadonlyArray<Table.Column<ResultFile>> => [
  { title: "Step", value: ({ step }) => step, keep: true },
  { title: "File", value: ({ file }) => Table.known(nameOf(file)), least: 10 },
  Table.sizeColumn(({ file }) => file.size),
  files.some(({ file }) => file.asset_id)
    ? { title: "Asset", value: ({ file }) => Table.known(file.asset_id), keep: true, optional: true }
    : { title: "Type", value: ({ file }) => Table.known(file.mime), optional: true }
]

/** Matches the names that Windows reserves for devices, such as `con`. Windows reserves them with any extension. */
const device = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$) *(?:\.|$)/i

/** File systems permit 255 bytes. The rest is for the number of {@link numbered}. */
const mostBytes = 240

const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** Cuts the characters before the extension of a part that is too long, or the end of a part without an extension. */
const shorten = (part: string): string => {
  if (bytesOf(part) <= mostBytes) return part
  const [extension = ""] = /\.[^.]{1,20}$/.exec(part) ?? []
  const stem = Array.from(part.slice(0, part.length - extension.length))
  let room = mostBytes - bytesOf(extension)
  return stem.filter((character) => (room -= bytesOf(character)) >= 0).join("") + extension
}

/**
 * Changes one part of a path, so that every file system accepts the part, and so that the file is not hidden. A hidden
 * file is avoided, because other programs may read their settings from files
 * such as `.env`. Windows removes dots and spaces at the end of a name.
 */
const safePart = (part: string): string =>
  shorten(part)
    // oxlint-disable-next-line no-control-regex -- control characters are what this replaces
    .replaceAll(/[\u0000-\u001f\u007f-\u009f<>:"|?*]/g, "_")
    .trim()
    .replace(/^\.+/, "_")
    .replace(/[. ]+$/, "_")
    .replace(device, "_$&")

/**
 * The parts of the path of a result, for use below the folder of the download. The service chooses the paths of
 * results, and such a path could lead out of this folder. Therefore the parts that lead upwards or to the root are left
 * out.
 */
const safeParts = (path: string): ReadonlyArray<string> => {
  const parts = path
    .toWellFormed()
    .split(/[/\\]/)
    .filter((part) => part.trim() !== "" && part !== "." && part !== "..")
    .map(safePart)
  return parts.length === 0 ? ["file"] : parts
}

/** Adds a number before the extension: `a-2.jpg`. */
const numbered = (name: string, count: number): string => {
  const [, stem = name, extension = ""] = /^(.+?)(\.[^.]*)?$/s.exec(name) ?? []
  return `${stem}-${count}${extension}`
}

/**
 * The key of a path. Two paths with the same key lead to the same file on a file system that ignores the case and the
 * Unicode form of characters.
 */
const keyOf = (parts: ReadonlyArray<string>): string => parts.join("/").normalize("NFC").toLowerCase()

/**
 * Gives each file a path that no other file has: a folder and a name. The folders are those of the path of the file in
 * the Workspace, if the file has such a path. If the files belong to several Steps, each Step has a folder. If two
 * files have the same path, the name of the second file gets the number 2. A file whose path is also the path of a
 * folder gets a number too.
 */
export const place = (files: ReadonlyArray<ResultFile>) => {
  const isOneStep = new Set(files.map(({ step }) => step)).size < 2
  const wanted = files.map(({ file, step }) => {
    const parts = safeParts(file.path || file.name || file.id || "")
    return isOneStep ? parts : [shorten(safeParts(step).join("_")), ...parts]
  })
  const folders = wanted.flatMap((parts) => parts.slice(1).map((_, index) => keyOf(parts.slice(0, index + 1))))
  const taken = new Set(folders)
  return files.map((result, index) => {
    const parts = wanted[index] ?? []
    const [above, last] = [parts.slice(0, -1), parts.at(-1) ?? ""]
    let name = last
    for (let count = 2; taken.has(keyOf([...above, name])); count++) name = numbered(last, count)
    taken.add(keyOf([...above, name]))
    return { ...result, folder: above.join("/"), name }
  })
}

/** A file, its folder relative to the folder of the download, and its name in its folder. */
export type Placed = ReturnType<typeof place>[number]
