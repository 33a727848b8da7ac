// Fills the column of docs/conformance.md that the code knows: the test files of each clause. A test
// names its clauses in its title or in the title of its `describe`: "… (spec O-3, R-1)". With `--check`, nothing is
// written, and it fails if a clause has no test, if a test names a clause that does not exist, or if a test file that
// SECURITY.md, docs/reliability.md or docs/durable.md promises does not exist. Words of titles are never compared.
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const page = join(root, "docs", "conformance.md")
const read = (file: string) => readFileSync(join(root, file), "utf8")
const problems: Array<string> = []

/** `packages/schema/test/DamAsset.test.ts` → `schema/DamAsset.test.ts` */
const toShort = (file: string) => file.replaceAll("\\", "/").replace(/^packages\/([^/]+)\/test\//, "$1/")

/** The test files by clause. */
const testsByClause = new Map<string, Set<string>>()
for (const file of globSync("packages/*/test/**/*.ts", { cwd: root }).toSorted()) {
  for (const [, clauses = ""] of read(file).matchAll(/\(spec ((?:[A-Z]-\d+(?:, )?)+)\)/g)) {
    for (const clause of clauses.split(", "))
      testsByClause.set(clause, (testsByClause.get(clause) ?? new Set()).add(toShort(file)))
  }
}

const known = new Set<string>()
/** A row of a clause with its test files. Other lines stay as they are. */
const fill = (line: string): string => {
  const [, clause = "", text = ""] = /^\| ([A-Z]-\d+) \| (.*?) \|/.exec(line) ?? []
  if (clause === "") return line
  if (known.has(clause)) problems.push(`${clause} has two rows`)
  known.add(clause)
  const tests = testsByClause.get(clause)
  if (tests === undefined) problems.push(`${clause} has no test: no title contains "(spec ${clause})"`)
  return `| ${clause} | ${text} | ${[...(tests ?? [])].join(", ")} |`
}

const before = readFileSync(page, "utf8")
const after = before.split("\n").map(fill).join("\n")

for (const [clause, files] of testsByClause)
  if (!known.has(clause)) problems.push(`${[...files].join(", ")}: no clause ${clause} in docs/conformance.md`)

let promised = 0
for (const document of ["SECURITY.md", "docs/reliability.md", "docs/durable.md"]) {
  for (const [name, folder, rest] of read(document).matchAll(/\b([a-z]+)\/([\w/.]+\.test\.ts)/g)) {
    promised++
    if (!existsSync(join(root, "packages", folder ?? "", "test", rest ?? "")))
      problems.push(`${document}: no file ${name}`)
  }
}

for (const problem of problems) console.error(problem)
console.log(`${known.size} clauses, ${promised} promises, ${problems.length} problems`)
if (problems.length > 0) process.exitCode = 1
if (!process.argv.includes("--check")) writeFileSync(page, after)
else if (after !== before) {
  console.error("docs/conformance.md is not up to date: pnpm conformance writes it")
  process.exitCode = 1
}
