/**
 * How TypeScript prints a type: the text that a compiler error and an editor show.
 */
import { execFile } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dirname, "..", "..", "..")

/** The options of the compiler for a single file: as strict as those of the workspace. */
const options = [
  "--ignoreConfig",
  "--noEmit",
  "--noErrorTruncation",
  "--skipLibCheck",
  "--strict",
  "--exactOptionalPropertyTypes",
  "--allowImportingTsExtensions",
  "--target",
  "es2024",
  "--module",
  "nodenext"
]

/** Which name of a module an import got says nothing about the type, nor does the order of a union. */
const normalised = (type: string): string =>
  type
    .replaceAll(/\b(?:\w+\.)+(?=\w)/g, "")
    .replaceAll(/[\w.]+(?: \| [\w.]+)+/g, (union) => union.split(" | ").toSorted().join(" | "))

/**
 * The types of the elements of the array in `file`, in their order. The array is declared to be of `never`, so that the
 * compiler prints each element; the file belongs to no project.
 */
export const printedIn = (file: string): Promise<ReadonlyArray<string>> =>
  new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(root, "node_modules", "typescript", "bin", "tsc"), ...options, file],
      { cwd: root, maxBuffer: 64 * 1024 * 1024 },
      (_, stdout) => {
        const types = stdout.matchAll(/error TS2322: Type '(.*)' is not assignable to type 'never'/g)
        resolve(Array.from(types, ([, type = ""]) => normalised(type)))
      }
    )
  })
