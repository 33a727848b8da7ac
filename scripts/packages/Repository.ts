/**
 * The packages of this repository and their public modules.
 */
import { globSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

export const root = join(import.meta.dirname, "..", "..")

/** The folders in `packages` that are published. */
export const names: ReadonlyArray<string> = readdirSync(join(root, "packages"))
  .filter((name) => name !== "testkit")
  .toSorted()

interface Manifest {
  readonly version: string
  readonly exports: object
  readonly peerDependencies?: Readonly<Record<string, string>>
}

export const manifestOf = (name: string): Manifest =>
  JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"))

/** The packages that export modules. The command line exports none. */
export const libraries: ReadonlyArray<string> = names.filter((name) => Object.hasOwn(manifestOf(name).exports, "."))

/** The modules of a library that can be imported, without `index`: their paths in `src`, without an extension. */
export const modulesOf = (name: string): ReadonlyArray<string> =>
  globSync("**/*.ts", { cwd: join(root, "packages", name, "src") })
    .map((file) => file.slice(0, -".ts".length))
    .filter((module) => module !== "index" && !module.split("/").includes("internal"))
    .toSorted()

/** The versions in the catalog of pnpm. */
const catalog = new Map(
  Array.from(
    readFileSync(join(root, "pnpm-workspace.yaml"), "utf8").matchAll(/^ {2}"?([^":\n]+)"?: (\S+)$/gm),
    ([, name = "", version = ""]) => [name, version]
  )
)

/** The version of a dependency with which the packages are developed. */
export const versionOf = (dependency: string): string => {
  const version = catalog.get(dependency)
  if (version === undefined) throw new Error(`no version of ${dependency} in the catalog`)
  return version
}
