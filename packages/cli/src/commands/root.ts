import { Command } from "effect/cli"
import { Effect } from "../internal/effect.ts"
import * as Settings from "../internal/settings.ts"
import * as Cli from "../internal/cli.ts"

/**
 * Loads the module of a command only if the arguments need the command, so that the other commands and the help start
 * fast. For a command that was not loaded, the help shows the name and what it does.
 */
const lazily = <Input, Context, E, R>(
  args: ReadonlyArray<string>,
  name: string,
  load: () => Promise<Command.Command<string, Input, Context, E, R>>
) =>
  Effect.gen(function* () {
    if (args.includes(name) || args === everything) return yield* Effect.promise(load)
    return Cli.described(name)(Command.make(name))
  })

/** The arguments with which all commands are loaded, for the completion scripts of shells. */
export const everything: ReadonlyArray<string> = []

const all: Effect.Effect<Command.Command.Any> = Effect.suspend(() => root(everything))

/** The root command: `assembly <command>`. Only the modules of the commands that the arguments need are loaded. */
export const root = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const assemblies = () => import("./assemblies.ts")
  const workspace = () => import("./workspace.ts")
  const assets = () => import("./assets.ts")
  const shells = () => import("./shells.ts")
  return Command.make("assembly").pipe(
    Cli.described(""),
    Command.withGlobalFlags([Settings.Profile]),
    Command.withSubcommands([
      yield* lazily(args, "upload", async () => (await import("./upload.ts")).upload),
      yield* lazily(args, "uploads", async () => (await import("./uploads.ts")).uploads),
      yield* lazily(args, "stats", async () => (await import("./stats.ts")).stats),
      yield* lazily(args, "list", async () => (await import("./list.ts")).list),
      yield* lazily(args, "get", async () => (await assemblies()).get),
      yield* lazily(args, "watch", async () => (await assemblies()).watch),
      yield* lazily(args, "wait", async () => (await assemblies()).wait),
      yield* lazily(args, "cancel", async () => (await assemblies()).cancel),
      yield* lazily(args, "replay", async () => (await assemblies()).replay),
      yield* lazily(args, "results", async () => (await assemblies()).results),
      yield* lazily(args, "move", async () => (await assets()).move),
      yield* lazily(args, "templates", async () => (await import("./templates.ts")).templates),
      yield* lazily(args, "credentials", async () => (await import("./credentials.ts")).credentials),
      yield* lazily(args, "keys", async () => (await import("./keys.ts")).keys),
      yield* lazily(args, "assets", async () => (await assets()).assets),
      yield* lazily(args, "bill", async () => (await workspace()).bill),
      yield* lazily(args, "notifications", async () => (await workspace()).notifications),
      yield* lazily(args, "queues", async () => (await workspace()).queues),
      yield* lazily(args, "token", async () => (await import("./token.ts")).token),
      yield* lazily(args, "emulator", async () => (await import("./emulator.ts")).emulator),
      yield* lazily(args, "doctor", async () => (await import("./doctor.ts")).doctor),
      yield* lazily(args, "completions", async () => (await shells()).completions(all)),
      yield* lazily(args, "help", async () => (await shells()).help)
    ])
  )
})
