import { spawn } from "node:child_process"
import * as fs from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs, stripVTControlCharacters } from "node:util"
import { mutants } from "./mutants.ts"
import type { Mutant } from "./Mutant.ts"

const root = path.join(import.meta.dirname, "..", "..")
const usage = `Mutates important lines one at a time and runs the tests of the package. A mutation that no test detects survives.

  pnpm mutate                   every mutation of the list
  pnpm mutate lease parallel    the mutations whose name or file contains one of the words
  pnpm mutate --list            only checks that each mutation still fits the code
  pnpm mutate --quick           runs only the tests that a mutation names, not the whole package
  pnpm mutate --jobs 4          the number of parallel runs (default: the number of processors)`

const { positionals: words, values } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean" },
    list: { type: "boolean" },
    quick: { type: "boolean" },
    jobs: { type: "string", default: String(os.availableParallelism()) }
  }
})
if (values.help === true) {
  console.log(usage)
  process.exit()
}
const isQuick = values.quick === true
const jobs = Number(values.jobs)

/** The maximum time of one test run in milliseconds. A mutation that makes the tests hang counts as detected. */
const timeLimit = 8 * 60_000

const occurrences = (text: string, part: string) => text.split(part).length - 1

const packageOf = ({ file, project }: Mutant) => project ?? file.split("/")[1] ?? ""

const testFiles = (name: string) =>
  fs
    .readdirSync(path.join(root, "packages", name, "test"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".test.ts"))
    .map((file) => `packages/${name}/test/${file.replaceAll(path.sep, "/")}`)

const isTypeScript = (text: string): boolean => {
  try {
    stripTypeScriptTypes(text)
    return true
  } catch {
    return false
  }
}

/**
 * The reason why a mutation is impossible, or undefined. A mutation that does not parse or runs no test would count as
 * detected.
 */
const misfit = (mutant: Mutant): string | undefined => {
  const { file, find, replace, tests } = mutant
  if (!fs.existsSync(path.join(root, file))) return "its file does not exist"
  const text = fs.readFileSync(path.join(root, file), "utf8")
  const count = occurrences(text, find)
  if (count !== 1) return `its text occurs ${count} times`
  if (find === replace) return "it changes nothing"
  if (!isTypeScript(text.replace(find, () => replace))) return "its replacement is not valid TypeScript"
  const files = testFiles(packageOf(mutant))
  const idle = tests.find((filter) => !files.some((name) => name.includes(filter)))
  return idle === undefined ? undefined : `no test file has a name with ${idle}`
}

/** Copies the repository with links between its packages, and links the installed packages of the original. */
const copyRepository = (to: string) => {
  fs.cpSync(path.join(root, "packages"), path.join(to, "packages"), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (name) => path.basename(name) !== "dist"
  })
  for (const name of ["docs", "scripts", "test"])
    fs.cpSync(path.join(root, name), path.join(to, name), { recursive: true, verbatimSymlinks: true })
  for (const name of fs.readdirSync(root)) {
    if (fs.statSync(path.join(root, name)).isFile()) fs.copyFileSync(path.join(root, name), path.join(to, name))
  }
  fs.symlinkSync(path.join(root, "node_modules"), path.join(to, "node_modules"))
}

/** The first failed test in vitest's output. */
const firstFailure = (output: string): string =>
  /^ *FAIL +(?:\|?@assembly-effect\/\S+ +)?(.+)$/m.exec(stripVTControlCharacters(output))?.[1]?.trim() ??
  "the test run failed without a failed test"

/** Returns the first failing test of a folder, or undefined. The first failure ends the run. */
const failure = (folder: string, project: string, filters: ReadonlyArray<string>): Promise<string | undefined> =>
  new Promise((resolve) => {
    const child = spawn(
      process.execPath,
      [
        path.join(root, "node_modules", "vitest", "vitest.mjs"),
        "run",
        "--config",
        "vitest.workspace.ts",
        "--project",
        `@assembly-effect/${project}`,
        "--bail",
        "1",
        "--reporter",
        "dot",
        ...filters
      ],
      { cwd: folder, stdio: ["ignore", "pipe", "pipe"], detached: true }
    )
    let output = ""
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => (output += text))
    }
    const timer = setTimeout(() => kill(child.pid), timeLimit)
    child.on("close", (code) => {
      clearTimeout(timer)
      running.delete(child.pid)
      resolve(code === 0 ? undefined : firstFailure(output))
    })
    if (child.pid !== undefined) running.add(child.pid)
  })

const running = new Set<number | undefined>()

/** Kills a run with all its workers. */
const kill = (pid: number | undefined) => {
  if (pid === undefined) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // The process has already ended.
  }
}

/** The test that detects a mutation, or undefined. */
const noticedBy = async (folder: string, mutant: Mutant): Promise<string | undefined> => {
  const file = path.join(folder, mutant.file)
  const original = fs.readFileSync(file, "utf8")
  fs.writeFileSync(
    file,
    original.replace(mutant.find, () => mutant.replace)
  )
  try {
    const named = mutant.tests.length === 0 ? undefined : await failure(folder, packageOf(mutant), mutant.tests)
    if (named !== undefined || (isQuick && mutant.tests.length > 0)) return named
    return await failure(folder, packageOf(mutant), [])
  } finally {
    fs.writeFileSync(file, original)
  }
}

const main = async () => {
  const chosen = mutants.filter(
    ({ file, name }) => words.length === 0 || words.some((word) => name.includes(word) || file.includes(word))
  )
  const misfits = mutants.flatMap((mutant) => {
    const problem = misfit(mutant)
    return problem === undefined ? [] : [`${mutant.file}: ${mutant.name}: ${problem}`]
  })
  for (const line of misfits) console.error(line)
  if (misfits.length > 0) process.exit(1)
  if (values.list === true) {
    console.log(`all ${mutants.length} mutations fit the code`)
    return
  }

  const base = fs.mkdtempSync(path.join(os.tmpdir(), "mutate-"))
  const clean = () => {
    for (const pid of running) kill(pid)
    fs.rmSync(base, { recursive: true, force: true })
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      clean()
      process.exit(130)
    })
  }

  const queue = [...chosen]
  const survivors: Array<string> = []
  const workers = Array.from({ length: Math.max(1, Math.min(jobs, queue.length)) }, async (_, index) => {
    const folder = path.join(base, String(index))
    fs.mkdirSync(folder)
    copyRepository(folder)
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const started = performance.now()
      const by = await noticedBy(folder, mutant)
      const line = `${mutant.file.replace("packages/", "")}: ${mutant.name}`
      if (by === undefined) survivors.push(line)
      const time = `${((performance.now() - started) / 1000).toFixed(0).padStart(3)} s`
      console.log(`${by === undefined ? "survived" : "detected"}  ${time}  ${line}`)
      if (by !== undefined) console.log(`                 ${by}`)
    }
  })
  try {
    await Promise.all(workers)
  } finally {
    clean()
  }
  console.log(`\n${chosen.length - survivors.length} of ${chosen.length} mutations were detected`)
  for (const line of survivors) console.log(`survived: ${line}`)
  process.exitCode = survivors.length === 0 ? 0 : 1
}

await main()
