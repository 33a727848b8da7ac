/** What helps a user of a shell: completions, and the pages of the help that belong to no command. */
import { Argument, type Command, Completions } from "effect/cli"
import { Effect } from "../internal/effect.ts"
import { Cli, Help, Output } from "../internal/index.ts"

/**
 * The parameters that take a path, by their names. Their type is a text, because a parameter may also take `-` or a
 * pattern, or because the command itself refuses an empty text.
 */
export const paths: Readonly<Record<string, "file" | "directory" | "either">> = {
  paths: "either",
  file: "file",
  steps: "file",
  "fields-file": "file",
  content: "file",
  "files-from": "file",
  output: "directory",
  data: "directory",
  templates: "file",
  "tls-cert": "file",
  "tls-key": "file"
}

/**
 * Adds what `manual.md` says to each parameter, and the type of a path to the parameters in {@link paths}. For bash, each
 * other flag with a text or a number gets an empty list of values, because its script would offer the names of files.
 */
const completed = (
  command: Completions.CommandDescriptor,
  isBash: boolean,
  path: string = ""
): Completions.CommandDescriptor => {
  const typeOf = <T extends { readonly _tag: string }>(name: string, type: T) => {
    const pathType = type._tag === "Boolean" ? undefined : paths[name]
    return pathType === undefined ? type : { _tag: "Path" as const, pathType }
  }
  const flagOf = (flag: Completions.FlagDescriptor): Completions.FlagDescriptor => {
    // The fields of --json are attached to it, so that the next word is none of them.
    const type = flag.name === "json" ? { _tag: "Boolean" as const } : typeOf(flag.name, flag.type)
    const isListed = !isBash || ["Boolean", "Choice", "Path"].includes(type._tag)
    const description = Help.parameter(path, `--${flag.name}`) || flag.description
    return { ...flag, description, type: isListed ? type : { _tag: "Choice", values: [] } }
  }
  return {
    ...command,
    flags: command.flags.map(flagOf),
    arguments: command.arguments.map((one) => ({
      ...one,
      description: Help.parameter(path, one.name),
      type: typeOf(one.name, one.type)
    })),
    subcommands: command.subcommands.map((one) => completed(one, isBash, `${path} ${one.name}`.trim()))
  }
}

/** `assembly completions`: prints the script with which a shell completes the commands and flags of this program. */
export const completions = <E, R>(root: Effect.Effect<Command.Command.Any, E, R>) =>
  Cli.local(
    "completions",
    { shell: Argument.Literals("shell", ["bash", "zsh", "fish", "powershell"]) },
    Effect.fnUntraced(function* ({ shell }) {
      const known = completed(Completions.fromCommand(yield* root), shell === "bash")
      yield* Output.lines(Completions.generate("assembly", shell, known).split("\n"))
    })
  )

/** `assembly help`: the pages that belong to no command. */
export const help = Cli.local(
  "help",
  { page: Argument.Literals("page", ["environment", "exit-codes"]) },
  Effect.fnUntraced(function* ({ page }) {
    const layout = { ...(yield* Output.layout), program: yield* Help.Program }
    yield* Output.report(Help.renderPage(`help ${page}`, layout))
  })
)
