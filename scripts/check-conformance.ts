// Checks docs/conformance.md: every clause must have a module and a test that exist. "*pending*" marks a test that is
// not written yet; a clause of a schema must not be pending. Also checks that the tests which SECURITY.md,
// docs/reliability.md and docs/durable.md name exist, and that the table of the operations has a row for each operation
// in the code.
import { existsSync, globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "..")
const packages = join(root, "packages")
const conformance = join(root, "docs", "conformance.md")
const promises = ["SECURITY.md", "docs/reliability.md", "docs/durable.md"]
const pending = "*pending*"

/** Matches the first argument of a call like `it("…", () => …)`, `it.effect.prop("…", [ …` or `it.each(…)("…", …`. */
const titlePattern = /([\w.]*)\(\s*("(?:[^"\\]|\\.)*"|`[^`]*`),\s*(?:async\b|function\b|\(|\[|\{)/g

/** In a computed title, such as `` `refuses ${name}` ``, each variable part is named `…`. */
const toTitle = (literal: string): string =>
  literal.startsWith("`")
    ? literal.slice(1, -1).replaceAll(/\$\{(?:[^{}"]|"[^"]*"|\{[^{}]*\})*\}/g, "…")
    : String(JSON.parse(literal))

const readTitles = (file: string): ReadonlySet<string> => {
  const titles = new Set<string>()
  for (const [, callee = "", title = '""'] of readFileSync(file, "utf8").matchAll(titlePattern)) {
    if (!/describe|\.(?:skip|todo|fails)\b/.test(callee)) titles.add(toTitle(title))
  }
  return titles
}

const titlesByFile = new Map<string, ReadonlySet<string>>()
const titlesOf = (file: string): ReadonlySet<string> => {
  const known = titlesByFile.get(file) ?? readTitles(file)
  titlesByFile.set(file, known)
  return known
}

/** `schema/DamAsset` and `src` → packages/schema/src/DamAsset */
const locate = (reference: string, folder: string): string => {
  const [name = "", ...rest] = reference.split("/")
  return join(packages, name, folder, ...rest)
}

const checkTest = (reference: string): string | undefined => {
  const separator = reference.indexOf(" › ")
  if (separator === -1) return `"${reference}" is not a file and a title`
  const file = locate(reference.slice(0, separator), "test")
  const title = reference.slice(separator + 3)
  if (!existsSync(file)) return `no file ${reference.slice(0, separator)}`
  return titlesOf(file).has(title) ? undefined : `no test "${title}" in ${reference.slice(0, separator)}`
}

const checkModule = (reference: string, isPending: boolean): string | undefined => {
  if (isPending) return reference.startsWith("schema/") ? `${reference} is not proved yet` : undefined
  return existsSync(`${locate(reference, "src")}.ts`) ? undefined : `no module ${reference}`
}

const checkRow = (line: string): ReadonlyArray<string> => {
  const cells = line.split("|").map((cell) => cell.trim())
  const [, , clause = "", modules = "", tests = ""] = cells
  if (cells.length !== 6 || clause === "" || modules === "" || tests === "") return ["not four filled cells"]
  const isPending = tests === pending
  return [
    ...modules.split(", ").map((module) => checkModule(module, isPending)),
    ...(isPending ? [] : tests.split("<br>").map(checkTest))
  ].filter((problem) => problem !== undefined)
}

const problems: Array<string> = []
const numbers = new Map<string, number>()
let rows = 0
let pendingRows = 0

/** The table of the operations is the last section. Its rows have no clause number. */
const [clauses = "", operationTable = ""] = readFileSync(conformance, "utf8").split("\n## Operations of the service\n")

for (const line of clauses.split("\n")) {
  if (!line.startsWith("|") || line.startsWith("| Clause |") || /^\|[-|]+$/.test(line)) continue
  const clause = /^\| ([A-Z])-(\d+) \|/.exec(line)
  if (clause === null) {
    problems.push(`no clause number: ${line}`)
    continue
  }
  const [, part = "", number = ""] = clause
  rows++
  if (line.includes(pending)) pendingRows++
  const expected = (numbers.get(part) ?? 0) + 1
  numbers.set(part, expected)
  if (Number(number) !== expected) problems.push(`${part}-${number}: expected ${part}-${expected}`)
  for (const problem of checkRow(line)) problems.push(`${part}-${number}: ${problem}`)
}

if (rows === 0) problems.push("docs/conformance.md contains no clause")

/** The operations in the code, by name. The token request is not described by `Operation.make`. */
const operations = new Map([["Tokens", "POST /token"]])
for (const file of globSync("api/src/**/*.ts", { cwd: packages })) {
  const code = readFileSync(join(packages, file), "utf8")
  for (const [, name = "", method, path] of code.matchAll(
    /name: "(\w+\.\w+)",\s*method: "([A-Z]+)",\s*path: "([^"]+)"/g
  )) {
    operations.set(name, `${method} ${path}`)
  }
}

const described = new Set<string>()
for (const line of operationTable.split("\n")) {
  const [, name = "", request = "", modules = "", tests = "", ...rest] = line.split("|").map((cell) => cell.trim())
  if (!line.startsWith("|") || name === "Operation" || /^-+$/.test(name)) continue
  if (rest.length !== 1 || modules === "" || tests === "") problems.push(`${name}: the row needs four cells with text`)
  if (described.has(name)) problems.push(`${name}: more than one row`)
  described.add(name)
  const expected = operations.get(name)
  if (expected === undefined) problems.push(`${name}: no such operation`)
  else if (request !== `\`${expected}\``) problems.push(`${name}: ${request}, expected \`${expected}\``)
  for (const problem of [
    ...modules.split(", ").map((module) => checkModule(module, false)),
    ...tests.split("<br>").map(checkTest)
  ]) {
    if (problem !== undefined) problems.push(`${name}: ${problem}`)
  }
}
for (const name of operations.keys())
  if (!described.has(name)) problems.push(`${name}: no row describes this operation`)

/** The last cell of each row in a table whose last column is "test". An empty cell is left out. */
const promisedTests = (text: string): ReadonlyArray<string> => {
  const cells: Array<string> = []
  let isPromise = false
  for (const line of text.split("\n")) {
    const last = line.startsWith("|") ? line.split("|").at(-2)?.trim() : undefined
    if (last === undefined) isPromise = false
    else if (last === "test") isPromise = true
    else if (isPromise && !/^-*$/.test(last)) cells.push(last)
  }
  return cells
}

let promised = 0
let pendingPromises = 0
for (const document of promises) {
  const cells = promisedTests(readFileSync(join(root, document), "utf8"))
  if (cells.length === 0) problems.push(`${document} names no test`)
  for (const cell of cells) {
    promised++
    if (cell === pending) pendingPromises++
    else
      for (const reference of cell.split("<br>")) {
        const problem = checkTest(reference)
        if (problem !== undefined) problems.push(`${document}: ${problem}`)
      }
  }
}
for (const problem of problems) console.error(problem)
console.log(`${rows} clauses, ${pendingRows} pending`)
console.log(`${described.size} operations`)
console.log(`${promised} promises, ${pendingPromises} pending`)
console.log(`${problems.length} problems`)
if (problems.length > 0) process.exitCode = 1
