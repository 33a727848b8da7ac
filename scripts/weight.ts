// `pnpm weight`: the size of the repository beside the budget of its round. Lines are counted without comments and
// blanks. It is no gate.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const root = process.argv[2] ?? join(import.meta.dirname, "..")
const paths = execFileSync("git", ["ls-files"], { cwd: root, encoding: "utf8" }).trim().split("\n")
const read = (path: string) => readFileSync(join(root, path), "utf8")

/** Texts are kept, so that `//` in a URL begins no comment. */
const tokens = /"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`|\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g
const linesOf = (path: string): number =>
  read(path)
    .replaceAll(tokens, (token) => (token.startsWith("/") ? "" : token))
    .split("\n")
    .filter((line) => line.trim() !== "").length

const code = paths.filter((path) => path.endsWith(".ts")).map((path) => ({ path, lines: linesOf(path) }))
const sum = (pattern: RegExp) =>
  code.filter(({ path }) => pattern.test(path)).reduce((all, { lines }) => all + lines, 0)
const words = paths
  .filter((path) => /^(?:docs\/.*|[A-Z]+)\.md$/.test(path))
  .reduce((all, path) => all + read(path).split(/\s+/).filter(Boolean).length, 0)

/** The exported names of the public modules, also those that another module declares. */
const namesOf = (name: string): number =>
  paths
    .filter((path) => new RegExp(`^packages/${name}/src/(?!index\\.ts)\\w+\\.ts$`).test(path))
    .flatMap((path) => {
      const text = read(path).replaceAll(tokens, (token) => (token.startsWith("/") ? "" : token))
      const own = text.matchAll(/^export (?:declare )?(?:abstract )?(?:const|class|interface|type|function) (\w+)/gm)
      const others = Array.from(text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)).flatMap(([, list = ""]) =>
        list
          .split(",")
          .map((one) => one.trim().split(" ").at(-1) ?? "")
          .filter((one) => one !== "")
      )
      return Array.from(new Set(Array.from(own, ([, one]) => one).concat(others)))
    }).length

const names = [...new Set(paths.flatMap((path) => /^packages\/([^/]+)\/src\//.exec(path)?.[1] ?? []))]
const core = new Set(["schema", "auth", "api", "tus"])
const long = code.filter(({ lines, path }) => lines > 400 && /^packages\/[^/]+\/src\//.test(path))

console.table(
  Object.fromEntries(
    names.map((name) => [
      name,
      {
        src: sum(new RegExp(`^packages/${name}/src/`)),
        tests: sum(new RegExp(`^packages/${name}/test/`)),
        names: namesOf(name)
      }
    ])
  )
)
const src = (name: string) => sum(new RegExp(`^packages/${name}/src/`))
const row = (is: number, budget: number) => ({ is, budget, over: Math.max(0, is - budget) })
console.table({
  "packages/*/src": row(sum(/^packages\/[^/]+\/src\//), 31_000),
  "schema, auth, api, tus": row(
    [...core].reduce((all, name) => all + src(name), 0),
    13_500
  ),
  workflow: row(src("workflow"), 2200),
  emulator: row(src("emulator"), 8000),
  cli: row(src("cli"), 5500),
  tests: row(sum(/^(?:packages\/[^/]+\/test|packages\/testkit|test)\//), 42_000),
  scripts: row(sum(/^scripts\//), 6000),
  "words of docs": row(words, 40_000),
  "public names": row(
    names.reduce((all, name) => all + namesOf(name), 0),
    600
  ),
  "source files above 400 lines": row(long.length, 0)
})
for (const { lines, path } of long) console.log(`${lines} ${path}`)
