import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import * as HelpText from "../HelpText.ts"
import * as Output from "../Output.ts"

/** The kind of path that a parameter takes. */
type PathType = "file" | "directory" | "either"

/**
 * The parameters that take a path, although their type is a text. The type of these parameters is not a path, because a
 * parameter may also take `-` or a pattern, or because the command itself refuses an empty text. The name of a flag
 * includes its dashes.
 */
export const paths: Readonly<Record<string, Readonly<Record<string, PathType>>>> = {
  "assembly upload": { paths: "either", "--steps": "file", "--fields-file": "file", "--journal": "directory" },
  "assembly uploads": { "--journal": "directory" },
  "assembly uploads forget": { "--journal": "directory" },
  "assembly replay": { "--steps": "file", "--fields-file": "file" },
  "assembly templates create": { file: "file" },
  "assembly templates update": { "--file": "file" },
  "assembly credentials create": { "--content": "file" },
  "assembly credentials update": { "--content": "file" },
  "assembly results download": { "--output": "directory" },
  "assembly emulator": { "--data": "directory" }
}

/** Gives each parameter that is in {@link paths} the type of a path, so that shells complete it with paths. */
const withPaths = (command: Completions.CommandDescriptor, above: string = ""): Completions.CommandDescriptor => {
  const path = `${above} ${command.name}`.trim()
  const known = paths[path] ?? {}
  const typed = <P extends { readonly name: string }>(parameter: P, key: string) => {
    const pathType = known[key]
    return pathType === undefined ? parameter : { ...parameter, type: { _tag: "Path" as const, pathType } }
  }
  return {
    ...command,
    flags: command.flags.map((flag) => typed(flag, `--${flag.name}`)),
    arguments: command.arguments.map((argument) => typed(argument, argument.name)),
    subcommands: command.subcommands.map((subcommand) => withPaths(subcommand, path))
  }
}

const hasValues = ({ type: { _tag } }: Completions.FlagDescriptor): boolean =>
  _tag === "Boolean" || _tag === "Choice" || _tag === "Path"

/**
 * Sets an empty list of values for each flag that takes free text or a number. Without this list, the script for bash
 * would complete the value of the flag with arguments of the command, for example the value of `--template` with the
 * names of files.
 */
const withoutGuesses = (command: Completions.CommandDescriptor): Completions.CommandDescriptor => ({
  ...command,
  flags: command.flags.map((flag) => (hasValues(flag) ? flag : { ...flag, type: { _tag: "Choice", values: [] } })),
  subcommands: command.subcommands.map(withoutGuesses)
})

/** `assembly completions`: prints the script with which a shell completes the commands and flags of this program. */
export const completions = <E, R>(root: Effect.Effect<Command.Command.Any, E, R>) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish", "powershell"]).pipe(
        Argument.withDescription("The shell: bash, zsh, fish or powershell")
      )
    },
    Effect.fnUntraced(function* ({ shell }) {
      const known = withPaths(Completions.fromCommand(yield* root))
      const script = Completions.generate("assembly", shell, shell === "bash" ? withoutGuesses(known) : known)
      yield* Output.lines(script.split("\n"))
    })
  ).pipe(
    Command.withDescription("Print the completions of a shell"),
    Command.annotate(HelpText.Environment, []),
    Command.withExamples([
      { command: "source <(assembly completions bash)", description: "bash, also in ~/.bashrc" },
      { command: 'assembly completions zsh > "${fpath[1]}/_assembly"', description: "zsh" },
      { command: "assembly completions fish > ~/.config/fish/completions/assembly.fish", description: "fish" }
    ])
  )
