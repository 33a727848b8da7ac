/**
 * Pages of commands, each after `$ `, with what it says below it. `-u` writes what the commands say. A command that does
 * not begin with `assembly` is for a shell. Variables before it are set for it alone; `env -i` unsets all others.
 */
import { Effect } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import * as InProcess from "./inProcess.ts"
import * as Samples from "./samples.ts"

type Env = Readonly<Record<string, string>>

const words = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/'([^']*)'|\S+/g), ([word, quoted]) => quoted ?? word)

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** Leaves out the progress, which depends on the speed of the machine, and replaces moments of today. */
const steady = (text: string): string => {
  const days = `${dayOf(Date.now())}|${dayOf(Date.now() - 86_400_000)}`
  return text
    .replace(/^.*: (?:\d+% .*|Processing.*)\n/gm, "")
    .replace(new RegExp(String.raw`(?:${days})([ T])\d\d:\d\d(?::\d\d(?:\.\d+)?)?`, "g"), "2026-07-01$112:00")
}

/** An id that nothing has. */
const kept = new Set(["0".repeat(32)])

/** Runs the commands of a page in a folder. Returns the page with what they say. */
export const run = Effect.fnUntraced(function* (page: URL, cwd: string, service: Env) {
  const commands = readFileSync(page, "utf8").match(/^(?:\$|#) .*$/gm) ?? []
  const samples = Samples.make()
  const { host } = new URL(service["ASSEMBLY_BASE_URL"] ?? "")
  const told = yield* Effect.forEach(
    commands,
    Effect.fnUntraced(function* (line) {
      if (line.startsWith("#")) return `${line}\n`
      const real = samples
        .toReal(line)
        .replaceAll(Samples.address, host)
        .replace(/(?<==)~/g, cwd)
      const [, empty, variables = "", args] = /^\$ (env -i )?((?:\w+=\S+ )*)assembly (.*)$/.exec(real) ?? []
      if (args === undefined) {
        return `${line}\n${execFileSync("sh", ["-c", real.slice(2)], { cwd, env: { PATH: process.env["PATH"], ...service } }).toString()}`
      }
      const set = Object.fromEntries(Array.from(variables.matchAll(/(\w+)=(\S+)/g), ([, name, value]) => [name, value]))
      const env = { ...(empty === undefined ? service : {}), ...set }
      const { code, stderr, stdout } = yield* InProcess.assembly(cwd, env, words(args))
      const said = steady(`${stdout}${stderr}`).replaceAll(cwd, "~")
      return `${line}\n${samples.toShown(said, kept)}exit code ${code}\n`
    })
  )
  return told.join("\n")
})
