import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"

/** Whether one of the arguments is `name`, or needs all commands, as `--completions` and `--wizard` do. */
const isNeeded = (name: string, args: ReadonlyArray<string>): boolean =>
  args.some((arg) => arg === name || /^--(?:completions|wizard)(?:=|$)/.test(arg))

/**
 * Loads the module of a command only if the arguments need the command, so that the other commands and the help start
 * fast. For a command that was not loaded, the help shows the name and the description.
 */
const lazily = <const Name extends string, Input, Context, E, R>(
  args: ReadonlyArray<string>,
  name: Name,
  description: string,
  load: () => Promise<Command.Command<Name, Input, Context, E, R>>
) =>
  Effect.gen(function* () {
    if (!isNeeded(name, args)) return Command.withDescription(Command.make(name), description)
    const command = yield* Effect.promise(load)
    return command.description === undefined
      ? Command.withDescription(command, description)
      : Command.withShortDescription(command, description)
  })

/**
 * Loads the Layer with the client of the service. The Layer reads ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY and
 * ASSEMBLY_AUTH_SECRET when a command needs the client.
 */
const loadService = async () => {
  const { layer } = await import("../internal/waiting.ts")
  return layer
}

/** The root command with all commands, for the completion scripts of shells. */
const complete: Effect.Effect<Command.Command.Any> = Effect.suspend(() => assembly(["--completions"]))

/** The root command: `assembly <command>`. Only the modules of the commands that the arguments need are loaded. */
export const assembly = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const upload = yield* lazily(args, "upload", "Upload files, and wait for the results", async () => {
    const module = await import("./upload.ts")
    return Command.provide(module.upload, await loadService())
  })
  const uploads = yield* lazily(args, "uploads", "List or forget unfinished uploads", async () => {
    const module = await import("./uploads.ts")
    return module.uploads(await loadService())
  })
  const stats = yield* lazily(args, "stats", "Show the statistics of Assemblies", async () => {
    const module = await import("./stats.ts")
    return Command.provide(module.stats, await loadService())
  })
  const list = yield* lazily(args, "list", "List Assemblies, newest first", async () => {
    const module = await import("./list.ts")
    return Command.provide(module.list, await loadService())
  })
  const move = yield* lazily(args, "move", "Rename or move an asset by its id (alpha)", async () => {
    const module = await import("./move.ts")
    return Command.provide(module.move, await loadService())
  })
  const templates = yield* lazily(args, "templates", "Manage Templates", async () => {
    const module = await import("./templates.ts")
    return module.templates(await loadService())
  })
  const credentials = yield* lazily(args, "credentials", "Manage Template Credentials", async () => {
    const module = await import("./credentials.ts")
    return module.credentials(await loadService())
  })
  const keys = yield* lazily(args, "keys", "Manage Auth Keys", async () => {
    const module = await import("./keys.ts")
    return module.keys(await loadService())
  })
  const assets = yield* lazily(args, "assets", "Manage the stored files of the Workspace (alpha)", async () => {
    const module = await import("./assets.ts")
    return module.assets(await loadService())
  })
  const bill = yield* lazily(args, "bill", "Show the bill of a month", async () => {
    const module = await import("./bill.ts")
    return Command.provide(module.bill, await loadService())
  })
  const notifications = yield* lazily(args, "notifications", "List and repeat notifications", async () => {
    const module = await import("./notifications.ts")
    return module.notifications(await loadService())
  })
  const queues = yield* lazily(args, "queues", "Show the priority job slots", async () => {
    const module = await import("./queues.ts")
    return module.queues(await loadService())
  })
  const token = yield* lazily(args, "token", "Print a bearer token, which is a secret", async () => {
    const module = await import("./token.ts")
    return module.token
  })
  const emulator = yield* lazily(args, "emulator", "Run the emulator: the service on this machine", async () => {
    const module = await import("./emulator.ts")
    return module.emulator
  })
  const get = yield* lazily(args, "get", "Show the Status of an Assembly and its results", async () => {
    const module = await import("./get.ts")
    return Command.provide(module.get, await loadService())
  })
  const watch = yield* lazily(args, "watch", "Print each change of an Assembly until it ends", async () => {
    const module = await import("./watch.ts")
    return Command.provide(module.watch, await loadService())
  })
  const wait = yield* lazily(args, "wait", "Wait until Assemblies have completed", async () => {
    const module = await import("./wait.ts")
    return Command.provide(module.wait, await loadService())
  })
  const cancel = yield* lazily(args, "cancel", "Cancel Assemblies", async () => {
    const module = await import("./cancel.ts")
    return Command.provide(module.cancel, await loadService())
  })
  const replay = yield* lazily(args, "replay", "Run the files of an Assembly again, as a new Assembly", async () => {
    const module = await import("./replay.ts")
    return Command.provide(module.replay, await loadService())
  })
  const results = yield* lazily(args, "results", "List and download the results of an Assembly", async () => {
    const module = await import("./results.ts")
    return module.results(await loadService())
  })
  const doctor = yield* lazily(args, "doctor", "Check the settings, the service and the credentials", async () => {
    const module = await import("./doctor.ts")
    return module.doctor
  })
  const completions = yield* lazily(args, "completions", "Print the completions of a shell", async () => {
    const module = await import("./completions.ts")
    return module.completions(complete)
  })
  return Command.make("assembly").pipe(
    Command.withDescription("The Assembly Processing Service from the command line"),
    Command.withExamples([
      {
        command: "assembly upload --template my-template cat.jpg",
        description: "Upload a file, and wait for the results"
      },
      { command: "assembly doctor", description: "Check the settings, the service and the credentials" }
    ]),
    Command.withSubcommands([
      upload,
      uploads,
      stats,
      list,
      get,
      watch,
      wait,
      cancel,
      replay,
      results,
      move,
      templates,
      credentials,
      keys,
      assets,
      bill,
      notifications,
      queues,
      token,
      emulator,
      doctor,
      completions
    ])
  )
})
