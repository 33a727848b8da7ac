/**
 * The result files of an Assembly: their table, and names under which they can be saved. All functions are pure.
 */
import * as Results from "@assembly-effect/api/Results"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Format from "../Format.ts"
import type * as Table from "../Table.ts"
import * as Cells from "./cells.ts"

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

export const columns: ReadonlyArray<Table.Column<ResultFile>> = [
  { title: "Step", rank: 3, value: ({ step }) => step, keep: true },
  { title: "File", rank: 1, value: ({ file }) => Cells.text(nameOf(file)), least: 20 },
  {
    title: "Size",
    rank: 2,
    align: "right",
    value: ({ file }) => (typeof file.size === "number" ? Format.bytes(file.size) : Cells.unknown),
    keep: true
  },
  { title: "Type", rank: 4, value: ({ file }) => Cells.text(file.mime), optional: true },
  { title: "MD5", rank: 5, value: ({ file }) => Cells.text(file.md5hash), keep: true, optional: true }
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

/** A file, its folder relative to the folder of the download, and its name in its folder. */
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
export const place = (files: ReadonlyArray<ResultFile>): ReadonlyArray<Placed> => {
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
