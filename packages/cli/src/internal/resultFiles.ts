/**
 * The result files of an Assembly: their table, and names under which they can be saved. All functions are pure.
 */
import * as Results from "@assembly-effect/api/Results"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Format from "../Format.ts"
import type * as Table from "../Table.ts"
import * as Cells from "./cells.ts"

/** A file, and the Step that made it. */
export interface ResultFile {
  readonly step: string
  readonly file: Assembly.File
}

/** The result files of some Steps, or of all Steps, in the order of the Status. */
export const of = (
  status: Pick<Assembly.Status, "results">,
  steps: ReadonlyArray<string> = []
): ReadonlyArray<ResultFile> =>
  [...Results.of(status)]
    .filter(([step]) => steps.length === 0 || steps.includes(step))
    .flatMap(([step, files]) => files.map((file) => ({ step, file })))

/** Whether a file can be downloaded. A file that no Step exports has no URL. */
export const hasUrl = ({ file }: ResultFile): boolean => Boolean(file.ssl_url ?? file.url)

export const columns: ReadonlyArray<Table.Column<ResultFile>> = [
  { title: "Step", rank: 3, value: ({ step }) => step },
  { title: "File", rank: 1, value: ({ file }) => Cells.text(file.path ?? file.name), least: 20 },
  {
    title: "Size",
    rank: 2,
    align: "right",
    value: ({ file }) => (typeof file.size === "number" ? Format.bytes(file.size) : Cells.unknown),
    keep: true
  },
  { title: "Type", rank: 4, value: ({ file }) => Cells.text(file.mime) },
  { title: "MD5", rank: 5, value: ({ file }) => Cells.text(file.md5hash), keep: true }
]

/**
 * A name that stays in its folder and is visible there. The service chooses the names of results, so a name could lead
 * to another folder, or create a hidden file such as `.env`, which other programs read.
 */
const safeName = (name: string): string =>
  (name.toWellFormed().split(/[/\\]/).at(-1) ?? "")
    // oxlint-disable-next-line no-control-regex -- control characters are what this replaces
    .replaceAll(/[\u0000-\u001f\u007f-\u009f<>:"|?*]/g, "_")
    .replace(/^\.+/, "_")
    .trim() || "file"

/** A file, the folder below the destination that it belongs to, and its name in this folder. */
export interface Placed extends ResultFile {
  readonly folder: string
  readonly name: string
}

/** Adds a number before the extension: `a-2.jpg`. */
const numbered = (name: string, count: number): string => {
  const [, stem = name, extension = ""] = /^(.+?)(\.[^.]*)?$/s.exec(name) ?? []
  return `${stem}-${count}${extension}`
}

/**
 * Gives each file its own path. Files of several Steps are in folders with the names of the Steps. Among files
 * with the same name in a folder, the second one gets the number 2. Names that differ only in case are the same, as on
 * many file systems.
 */
export const place = (files: ReadonlyArray<ResultFile>): ReadonlyArray<Placed> => {
  const isOneStep = new Set(files.map(({ step }) => step)).size < 2
  const taken = new Set<string>()
  const key = (folder: string, name: string) => `${folder}/${name.normalize("NFC")}`.toLowerCase()
  return files.map((result) => {
    const folder = isOneStep ? "" : safeName(result.step)
    const wanted = safeName(result.file.name ?? result.file.id ?? "")
    let name = wanted
    for (let count = 2; taken.has(key(folder, name)); count++) name = numbered(wanted, count)
    taken.add(key(folder, name))
    return { ...result, folder, name }
  })
}
