import { Command } from "effect/cli"
import { Effect } from "../internal/effect.ts"
import { Cli, Settings } from "../internal/index.ts"

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
  return Command.make("assembly").pipe(
    Cli.described(""),
    Command.withGlobalFlags([Settings.Profile]),
    Command.withSubcommands([
      yield* lazily(args, "upload", async () => (await import("./upload.ts")).upload),
      yield* lazily(args, "uploads", async () => (await import("./uploads.ts")).uploads),
      yield* lazily(args, "stats", async () => (await import("./stats.ts")).stats),
      yield* lazily(args, "list", async () => (await import("./list.ts")).list),
      yield* lazily(args, "get", async () => (await import("./assemblies.ts")).get),
      yield* lazily(args, "watch", async () => (await import("./assemblies.ts")).watch),
      yield* lazily(args, "wait", async () => (await import("./assemblies.ts")).wait),
      yield* lazily(args, "cancel", async () => (await import("./assemblies.ts")).cancel),
      yield* lazily(args, "replay", async () => (await import("./assemblies.ts")).replay),
      yield* lazily(args, "results", async () => (await import("./assemblies.ts")).results),
      yield* lazily(args, "move", async () => (await import("./assets.ts")).move),
      yield* lazily(args, "templates", async () => (await import("./templates.ts")).templates),
      yield* lazily(args, "credentials", async () => (await import("./credentials.ts")).credentials),
      yield* lazily(args, "keys", async () => (await import("./keys.ts")).keys),
      yield* lazily(args, "assets", async () => (await import("./assets.ts")).assets),
      yield* lazily(args, "bill", async () => (await import("./workspace.ts")).bill),
      yield* lazily(args, "notifications", async () => (await import("./workspace.ts")).notifications),
      yield* lazily(args, "queues", async () => (await import("./workspace.ts")).queues),
      yield* lazily(args, "token", async () => (await import("./keys.ts")).token),
      yield* lazily(args, "emulator", async () => (await import("./emulator.ts")).emulator),
      yield* lazily(args, "doctor", async () => (await import("./doctor.ts")).doctor),
      yield* lazily(args, "completions", async () => (await import("./shells.ts")).completions(all)),
      yield* lazily(args, "help", async () => (await import("./shells.ts")).help)
    ])
  )
})
