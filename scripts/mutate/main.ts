// Changes important lines one at a time and runs the tests of the package: a change that no test notices survives.
//
//   pnpm mutate                   every change of the list
//   pnpm mutate lease parallel    those whose name or file contains one of the words
//   pnpm mutate --list            only checks that each change still fits the code
//   pnpm mutate --quick           asks only the tests that a change names, not the whole package after them
import { spawn } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { mutants } from "./mutants.ts"
import type { Mutant } from "./Mutant.ts"

const root = path.join(import.meta.dirname, "..", "..")
const args = process.argv.slice(2)
const words = args.filter((word) => !word.startsWith("--"))
const isQuick = args.includes("--quick")

/** No run of a package's tests takes this long; a change that makes them hang is noticed. Milliseconds. */
const timeLimit = 8 * 60_000

const occurrences = (text: string, part: string) => text.split(part).length - 1

/** Why a change cannot be made, or undefined. */
const misfit = ({ file, find, replace }: Mutant): string | undefined => {
  if (!fs.existsSync(path.join(root, file))) return "its file does not exist"
  const count = occurrences(fs.readFileSync(path.join(root, file), "utf8"), find)
  if (count !== 1) return `its text occurs ${count} times`
  return find === replace ? "it changes nothing" : undefined
}

const packageOf = ({ file }: Mutant) => file.split("/")[1] ?? ""

/** A copy of the repository whose packages see each other, and the installed packages of the original. */
const copyRepository = (to: string) => {
  fs.cpSync(path.join(root, "packages"), path.join(to, "packages"), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (name) => path.basename(name) !== "dist"
  })
  for (const name of ["docs", "scripts"])
    fs.cpSync(path.join(root, name), path.join(to, name), { recursive: true, verbatimSymlinks: true })
  for (const name of fs.readdirSync(root)) {
    if (fs.statSync(path.join(root, name)).isFile()) fs.copyFileSync(path.join(root, name), path.join(to, name))
  }
  fs.symlinkSync(path.join(root, "node_modules"), path.join(to, "node_modules"))
}

/** Whether the tests pass in a folder. One that fails ends the run. */
const passes = (folder: string, project: string, filters: ReadonlyArray<string>): Promise<boolean> =>
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
      { cwd: folder, stdio: "ignore", detached: true }
    )
    const timer = setTimeout(() => kill(child.pid), timeLimit)
    child.on("exit", (code) => {
      clearTimeout(timer)
      running.delete(child.pid)
      resolve(code === 0)
    })
    if (child.pid !== undefined) running.add(child.pid)
  })

const running = new Set<number | undefined>()

/** Ends a run with all its workers. */
const kill = (pid: number | undefined) => {
  if (pid === undefined) return
  try {
    process.kill(-pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}

type Verdict = "noticed" | "survived"

const judge = async (folder: string, mutant: Mutant): Promise<Verdict> => {
  const file = path.join(folder, mutant.file)
  const original = fs.readFileSync(file, "utf8")
  fs.writeFileSync(
    file,
    original.replace(mutant.find, () => mutant.replace)
  )
  try {
    if (mutant.tests.length > 0 && !(await passes(folder, packageOf(mutant), mutant.tests))) return "noticed"
    if (isQuick && mutant.tests.length > 0) return "survived"
    return (await passes(folder, packageOf(mutant), [])) ? "survived" : "noticed"
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
  if (args.includes("--list")) {
    console.log(`${mutants.length} changes fit the code`)
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
  const workers = Array.from(
    { length: Math.max(1, Math.min(os.availableParallelism(), queue.length)) },
    async (_, index) => {
      const folder = path.join(base, String(index))
      fs.mkdirSync(folder)
      copyRepository(folder)
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        const started = performance.now()
        const verdict = await judge(folder, mutant)
        const line = `${mutant.file.replace("packages/", "")}: ${mutant.name}`
        if (verdict === "survived") survivors.push(line)
        console.log(`${verdict.padEnd(8)}  ${((performance.now() - started) / 1000).toFixed(0).padStart(3)} s  ${line}`)
      }
    }
  )
  try {
    await Promise.all(workers)
  } finally {
    clean()
  }
  console.log(`\n${chosen.length - survivors.length} of ${chosen.length} changes were noticed`)
  for (const line of survivors) console.log(`survived: ${line}`)
  process.exitCode = survivors.length === 0 ? 0 : 1
}

await main()
