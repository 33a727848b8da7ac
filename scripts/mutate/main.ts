/**
 * `pnpm mutate`: changes the code in a copy of the repository, and tells which changes no test notices. Without words,
 * it takes the files that differ from `main`.
 */
import { execFileSync, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { parseArgs } from "node:util"
import * as Installed from "../installed.ts"
import { changes } from "./kinds.ts"

const root = path.join(import.meta.dirname, "..", "..")
const usage = `pnpm mutate [words of paths …] [--tests word …]       Stryker, with the results of earlier runs
pnpm mutate --kinds [words of paths …] [--name words]   a lost yield*, finalizer, timeout, option, condition of SQL, redaction
  --list          only lists the changes
  --sample 20     only so many of them, evenly spread: --seed 2 takes others
  --tests word    only the test files with this word in their paths; without it, those that import the file`

const { positionals: words, values } = parseArgs({
  allowPositionals: true,
  options: {
    help: { type: "boolean" },
    kinds: { type: "boolean" },
    list: { type: "boolean" },
    name: { type: "string", default: "" },
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    tests: { type: "string", multiple: true, default: [] }
  }
})

const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim()

const sources = fs.globSync("packages/*/src/**/*.ts", { cwd: root }).map((file) => file.replaceAll("\\", "/"))
const changed = () => new Set(git("diff", "--name-only", git("merge-base", "main", "HEAD")).split("\n"))
const files =
  words.length > 0
    ? sources.filter((file) => words.some((word) => file.includes(word)))
    : [...changed()].filter((file) => sources.includes(file))
const packages = [...new Set(files.map((file) => file.split("/")[1] ?? ""))]

/** Copies the repository, so that a change is never in the tree of a developer. Installed packages are linked. */
const copyTo = (folder: string) => {
  const left = new Set([".git", "node_modules"].map((name) => path.join(root, name)))
  const filter = (name: string) => path.basename(name) !== "dist" && !left.has(name)
  fs.cpSync(root, folder, { recursive: true, verbatimSymlinks: true, filter })
  const modules = path.join(folder, "node_modules")
  fs.mkdirSync(modules)
  for (const name of fs.readdirSync(path.join(root, "node_modules"))) {
    if (name === "@assembly-effect") continue
    fs.symlinkSync(path.join(root, "node_modules", name), path.join(modules, name))
  }
  fs.mkdirSync(path.join(modules, "@assembly-effect"))
  for (const name of fs.readdirSync(path.join(root, "packages")))
    fs.symlinkSync(path.join(folder, "packages", name), path.join(modules, "@assembly-effect", name))
}

const chosen = () => {
  const all = files.flatMap((file) =>
    changes(file, fs.readFileSync(path.join(root, file), "utf8"))
      .filter(({ name }) => name.includes(values.name))
      .map((change) => ({ file, change }))
  )
  if (values.sample === undefined) return all
  const step = Math.max(1, Math.floor(all.length / Number(values.sample)))
  return all.filter((_, index) => index % step === Number(values.seed) % step).slice(0, Number(values.sample))
}

/** Whether the tests pass that `--tests` names, or that import the file. A change that makes a test hang is noticed. */
const passes = (folder: string, file: string): boolean => {
  const project = `@assembly-effect/${file.split("/")[1]}`
  const tests = values.tests.length > 0 ? ["run", ...values.tests] : ["related", "--run", file]
  const options = ["--config", "vitest.workspace.ts", "--project", project, "--bail", "1", "--reporter", "dot"]
  return spawnSync("node_modules/.bin/vitest", [...tests, ...options], { cwd: folder, timeout: 300_000 }).status === 0
}

const runKinds = (folder: string) => {
  const survivors: Array<string> = []
  const all = chosen()
  const broken = [...new Set(all.map(({ file }) => file))].filter((file) => !passes(folder, file))
  if (broken.length > 0) throw new Error(`the tests fail, or there are none, without a change: ${broken.join(", ")}`)
  for (const { change, file } of all) {
    const copy = path.join(folder, file)
    const before = fs.readFileSync(copy, "utf8")
    fs.writeFileSync(copy, before.slice(0, change.start) + change.text + before.slice(change.end))
    const isNoticed = !passes(folder, file)
    fs.writeFileSync(copy, before)
    if (!isNoticed) survivors.push(`${file}: ${change.name}`)
    console.log(`${isNoticed ? "noticed " : "survived"} ${file}: ${change.name}`)
  }
  console.log(`${all.length - survivors.length} of ${all.length} changes were noticed`)
}

/** Stryker, installed on first use, because only this command needs it. It uses the vitest of the repository. */
const install = () => {
  const names = ["core", "vitest-runner"].map((name) => `@stryker-mutator/${name}@10.1.1`)
  return Installed.install("stryker", { "package.json": "{}" }, [
    "install",
    "--ignore-scripts",
    "--legacy-peer-deps",
    ...names
  ])
}

const runStryker = (folder: string) => {
  const modules = path.join(install(), "node_modules/@stryker-mutator")
  const tests = packages.flatMap((name) =>
    fs
      .globSync(`packages/${name}/test/**/*.test.ts`, { cwd: folder })
      .filter((file) => !file.endsWith(".all.test.ts"))
      .filter((file) => values.tests.length === 0 || values.tests.some((word) => file.includes(word)))
  )
  const test = {
    include: tests,
    setupFiles: ["scripts/walk/setup.ts", "scripts/walk/properties.ts"],
    testTimeout: 60_000
  }
  fs.writeFileSync(path.join(folder, "vitest.stryker.ts"), `export default ${JSON.stringify({ test })}\n`)
  const reports = path.join(root, "node_modules/.cache/mutate")
  fs.writeFileSync(
    path.join(folder, "stryker.json"),
    JSON.stringify({
      plugins: [path.join(modules, "vitest-runner/dist/src/index.js")],
      testRunner: "vitest",
      vitest: { configFile: "vitest.stryker.ts", related: true },
      mutate: files,
      coverageAnalysis: "perTest",
      disableTypeChecks: false,
      inPlace: true,
      ignoreStatic: true,
      incremental: true,
      incrementalFile: path.join(reports, "incremental.json"),
      // An aborted run writes nothing without the event recorder.
      reporters: ["clear-text", "event-recorder"],
      eventReporter: { baseDir: path.join(reports, "events") },
      clearTextReporter: { logTests: false, allowColor: false },
      concurrency: Math.max(1, Math.floor(os.availableParallelism() / 2))
    })
  )
  const { status } = spawnSync(process.execPath, [path.join(modules, "core/bin/stryker.js"), "run", "stryker.json"], {
    cwd: folder,
    stdio: "inherit"
  })
  process.exitCode = status ?? 1
}

if (values.help === true) console.log(usage)
else if (files.length === 0) console.log("no file of packages/*/src to change")
else if (values.list === true) for (const { change, file } of chosen()) console.log(`${file}: ${change.name}`)
else {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "mutate-"))
  process.on("SIGINT", () => process.exit(130))
  process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }))
  copyTo(folder)
  if (values.kinds === true) runKinds(folder)
  else runStryker(folder)
}
