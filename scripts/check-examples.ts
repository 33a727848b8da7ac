/**
 * Compiles every `@example` of the doc comments. The modules that an example names are imported; other names, such as
 * `target`, are declared in `examples.d.ts`.
 */
import { execFileSync } from "node:child_process"
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"

const root = join(import.meta.dirname, "..")
const folder = join(root, "scripts/.examples")

const comment = /\/\*\*((?:(?!\*\/)[^])*)\*\//g
const example = /@example[ \n]([^]*?)(?=^@|(?![^]))/gm

/** The examples of a file. A literal is no program. */
const examplesOf = (source: string): ReadonlyArray<string> =>
  Array.from(source.matchAll(comment), ([, text = ""]) => text.replaceAll(/^ *\* ?/gm, ""))
    .flatMap((text) =>
      Array.from(text.matchAll(example), ([, code = ""]) => code.trim().replace(/^`([A-Z]\w*\..*)`$/, "$1"))
    )
    .filter((code) => !/^["'`]/.test(code))

const nameOf = (file: string): string => (basename(file) === "testing.ts" ? "Testing" : basename(file, ".ts"))

/** The modules of Effect and our own by their names; our own win. */
const modules = new Map([
  ...globSync("node_modules/effect/src/{*,*/*}.ts", { cwd: root }).map(
    (file) => [nameOf(file), file.replace("node_modules/effect/src", "effect").slice(0, -3)] as const
  ),
  ...globSync("packages/*/src/{*,unstable/*}.ts", { cwd: root }).map(
    (file) => [nameOf(file), `../../${file}`] as const
  ),
  ["NodeRuntime", "@effect/platform-node/NodeRuntime"] as const
])

const importsOf = (file: string, source: string, code: string): ReadonlyArray<string> => {
  const namespaces = new Set(Array.from(code.matchAll(/(?<![\w."'`])([A-Z]\w*)\./g), ([, name = ""]) => name))
  const own = new Set(
    Array.from(code.matchAll(/(?<![\w."'`])(\w+)\b/g), ([, name = ""]) => name).filter(
      (name) =>
        !namespaces.has(name) && new RegExp(`^export (?:const|function|interface|type) ${name}\\b`, "m").test(source)
    )
  )
  // An example may import and declare by itself.
  for (const [, name = ""] of code.matchAll(/import \* as (\w+)/g)) namespaces.delete(name)
  for (const [, name = ""] of code.matchAll(/(?:const|interface|as) (\w+)/g)) own.delete(name)
  const [, folderOfPackage = ""] = file.split("/")
  return [
    ...[...namespaces].flatMap((name) => {
      const near = `packages/${folderOfPackage}/src/${name === "Testing" ? "testing" : name}.ts`
      const specifier = existsSync(join(root, near)) ? `../../${near}` : modules.get(name)
      return specifier === undefined ? [] : [`import * as ${name} from "${specifier}"`]
    }),
    own.size === 0
      ? ""
      : `import { ${[...own].map((name) => (/^[A-Z]/.test(name) ? `type ${name}` : name)).join(", ")} } from "../../${file}"`
  ]
}

rmSync(folder, { recursive: true, force: true })
mkdirSync(folder, { recursive: true })
let count = 0
// The modules of the command line are internal.
for (const file of globSync("packages/*/src/**/*.ts", { cwd: root, exclude: ["packages/cli/**"] }).toSorted()) {
  const source = readFileSync(join(root, file), "utf8")
  for (const code of examplesOf(source)) {
    const body = code.includes("yield*") && !code.includes("function*") ? `function* program_() {\n${code}\n}` : code
    const lines = [`// ${file}`, ...importsOf(file, source, code), body, "export {}", ""]
    writeFileSync(join(folder, `${file.split("/")[1]}-${nameOf(file)}-${count++}.ts`), lines.join("\n"))
  }
}
writeFileSync(
  join(folder, "tsconfig.json"),
  JSON.stringify({
    extends: "../../tsconfig.test.json",
    compilerOptions: { incremental: false, noImplicitAny: true, tsBuildInfoFile: null },
    include: ["*.ts", "../examples.d.ts"],
    references: []
  })
)
try {
  execFileSync("tsc", ["-p", folder, "--pretty", "false"], { cwd: root, stdio: "inherit" })
  rmSync(folder, { recursive: true })
  console.log(`${count} examples compile`)
} catch {
  console.error(`The examples are in ${folder}.`)
  process.exitCode = 1
}
