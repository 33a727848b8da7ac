/**
 * How a user runs this program in a shell. A printed command begins with words that the shell of the user can run, such
 * as `npx --no-install assembly`: the shell does not find a program in the `node_modules` of a project by its name alone.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/** How a user runs the program after a global installation, and how the texts of the help write every command. */
const installed = "assembly"

/** The words with which a printed command begins. */
export const Program = Context.Reference<string>("@assembly-effect/cli/Invocation/Program", {
  defaultValue: () => installed
})

/** A command that a user can paste into the shell, such as `npx --no-install assembly wait 1a2b`. */
export const command = (args: string): Effect.Effect<string> => Effect.map(Program, (program) => `${program} ${args}`)

/**
 * Matches `assembly` before a command, a flag or a placeholder such as `<command>`. A path such as `.assembly` does not
 * match.
 */
const names = /(?<![\w./-])assembly(?= [a-z<[-])/g

/** A text of the help in which `program` replaces the name of this program. */
export const inHelp = (text: string, program: string): string => text.replace(names, () => program)

interface Process {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The path of this program, as Node got it. */
  readonly path: string
}

const npm = /[\\/]np[mx]-cli\.js$/
const pnpm = /[\\/]pnpm(?:\.[a-z]+)?$/

/** Matches a path in the folder in which `npx` keeps packages that no project has installed. */
const cached = /[\\/]_npx[\\/]/

/** Matches a script of a `package.json` that runs `assembly` by its name. */
const runsByName = /(?:^|[\s;&|(])assembly(?:\s|$)/

const ofNpm = ({ env, path }: Process): string => {
  if (cached.test(path)) return "npx @assembly-effect/cli"
  const { npm_command: kind, npm_lifecycle_event: event, npm_lifecycle_script: script = "" } = env
  // For `npx --no-install assembly` and `npm exec assembly`, npm sets `script` to the name in quotes, without the arguments.
  if (kind === "exec" && event === "npx") {
    return script === "'assembly'" || runsByName.test(script) ? "npx --no-install assembly" : installed
  }
  return (kind === "run" || kind === "run-script") && runsByName.test(script) ? "npx --no-install assembly" : installed
}

const ofPnpm = ({ env }: Process, manager: string): string => {
  const { npm_command: kind, npm_lifecycle_event: event, npm_lifecycle_script: script = "" } = env
  if (kind === "dlx") return "pnpm dlx @assembly-effect/cli"
  if (kind === "exec") return `${manager} exec assembly`
  if (kind !== "run-script") return installed
  // `pnpm assembly` runs no script of the `package.json`, so `event` is undefined, or is `npx` if npx runs pnpm.
  const isScript = event !== undefined && event !== "npx"
  if (isScript && !runsByName.test(script)) return installed
  return isScript ? `${manager} exec assembly` : `${manager} assembly`
}

/**
 * The words with which a user runs this program, from the path of the program and the variables that npm and pnpm set.
 * The result is `assembly` unless they show another way.
 */
export const ofProcess = (started: Process): string => {
  const { npm_config_user_agent: agent = "", npm_execpath: manager = "" } = started.env
  if (npm.test(manager)) return ofNpm(started)
  if (!pnpm.test(manager)) return installed
  const [, version = ""] = /^pnpm\/(\d+)\./.exec(agent) ?? []
  // `npx pnpm` runs a pnpm that the shell of the user does not find by its name.
  return ofPnpm(started, cached.test(manager) && version !== "" ? `npx -y pnpm@${version}` : "pnpm")
}
