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

/**
 * The words with which a user runs this program, from its path and the variable that npm and pnpm set. Both install
 * programs of a project where npx finds them. Without `--no-install`, npx offers an unrelated package of this name.
 */
export const ofProcess = ({ npm_command: kind }: NodeJS.ProcessEnv, path: string): string => {
  if (kind === "dlx" || /[\\/]_npx[\\/]/.test(path)) return "npx @assembly-effect/cli"
  return kind !== undefined && /[\\/]node_modules[\\/]/.test(path) ? "npx --no-install assembly" : installed
}
