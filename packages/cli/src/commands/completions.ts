import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import * as Output from "../Output.ts"

/** `assembly completions`: prints the script that completes the commands and flags of a shell. */
export const completions = <E, R>(root: Effect.Effect<Command.Command.Any, E, R>) =>
  Command.make(
    "completions",
    {
      shell: Argument.Literals("shell", ["bash", "zsh", "fish", "powershell"]).pipe(
        Argument.withDescription("The shell: bash, zsh, fish or powershell")
      )
    },
    Effect.fnUntraced(function* ({ shell }) {
      const script = Completions.generate("assembly", shell, Completions.fromCommand(yield* root))
      yield* Output.lines(script.split("\n"))
    })
  ).pipe(
    Command.withDescription("Print the completions of a shell"),
    Command.withExamples([
      { command: "source <(assembly completions bash)", description: "bash, also in ~/.bashrc" },
      { command: 'assembly completions zsh > "${fpath[1]}/_assembly"', description: "zsh" },
      { command: "assembly completions fish > ~/.config/fish/completions/assembly.fish", description: "fish" }
    ])
  )
