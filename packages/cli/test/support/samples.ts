/**
 * What differs between two runs of the same command, and what the documentation shows in its place: a sample of the same
 * form. An id has the same sample in a whole session, so a page can name it in a later command.
 */
import { createHash } from "node:crypto"

/** When every session starts. Its minutes and seconds depend on the machine. */
export const start = Date.UTC(2026, 6, 1, 12)

/** The address of the service in every page. */
export const address = "127.0.0.1:8099"

/** The folder in which every session runs. Its real folder has a path of the same length, because lines are wrapped. */
export const folder = "/home/me/my-first-upload"

/** Ids of Assemblies and Templates in hexadecimal, and ids of assets in base64url. A longer text may be cut (…). */
const ids = /(?<![\w-])(?:[0-9a-f]{32}|(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{21}[AQgw])(?![\w…-])/g

/** The sample of the `n`-th id. */
const sampleOf = (id: string, n: number): string => {
  const digest = createHash("sha256").update(`id ${n}`).digest()
  return id.length === 32 ? digest.toString("hex", 0, 16) : `${digest.toString("base64url", 0, 16).slice(0, 21)}A`
}

/** Keeps the width of a cell in a table, which begins with several spaces. */
const inPlaceOf = (sample: string) => (found: string) =>
  found.startsWith("  ") ? sample.padStart(found.length) : found.replace(/\S.*/, sample)

const samples: ReadonlyArray<readonly [pattern: RegExp, sample: (found: string) => string]> = [
  // A port below 1024 is none that the system has chosen.
  [/127\.0\.0\.1:\d{4,5}/g, () => address],
  [/(?<=2026-07-01[ T])12:\d\d/g, () => "12:00"],
  [/\b12:\d\d:\d\d(?:\.\d+)?/g, () => "12:00:00"],
  [/(?<=answers as the service does, in ).*/g, () => "12 ms"],
  // The only duration that is aligned left.
  [/(?<=^Duration +)\S.* s$/gm, () => "0.1 s"],
  [/ *\b(?:\d+ min )?\d+(?:\.\d)? s\b/g, inPlaceOf("0.1 s")],
  // A duration in a narrow table, after a size.
  [/(?<=\d [KMG]?i?B) +(?:\d+m )?\d+(?:\.\d)?s\b/g, inPlaceOf("0.1s")],
  // An age in a table.
  [/(?<= {2})\d{1,2}[sm](?: +|$)/gm, (found) => (found.endsWith(" ") ? "9s".padEnd(found.length) : "9s")],
  [/ *\b\d+(?:\.\d)? (?:[kMG]?B|[KMG]iB)\/s/g, inPlaceOf("5.0 MiB/s")],
  // How many bytes are stored depends on the moment of Ctrl-C.
  [/(?<=^Received +)\S.*(?= of )/gm, () => "353.0 KiB"],
  // The length of a bar depends on the texts beside it.
  [/█+(?= +100%)/g, () => "█".repeat(20)],
  // The work after an upload is shown only if it lasts.
  [/(?<= 100% .*\n)(?:Processing, .*\n)?\n*/g, () => ""]
]

export interface Samples {
  /** The output with samples. `kept` has texts in the form of an id that are the same in every run. */
  readonly toShown: (output: string, kept: ReadonlySet<string>) => string
  /** The command with the ids that its samples stand for. */
  readonly toReal: (command: string) => string
}

/** The samples of a session. */
export const make = (): Samples => {
  const shown = new Map<string, string>()
  return {
    toShown: (output, kept) => {
      const known = output.replace(ids, (id) => {
        if (kept.has(id)) return id
        const sample = shown.get(id) ?? sampleOf(id, shown.size + 1)
        shown.set(id, sample)
        return sample
      })
      return samples.reduce((text, [pattern, sample]) => text.replace(pattern, sample), known)
    },
    toReal: (command) => Array.from(shown).reduce((text, [id, sample]) => text.replaceAll(sample, id), command)
  }
}
