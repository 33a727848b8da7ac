import * as Credentials from "@assembly-effect/auth/Credentials"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as RuntimeClient from "@assembly-effect/node/RuntimeClient"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { emulator } from "./emulator.ts"
import { list } from "./list.ts"
import { move } from "./move.ts"
import { stats } from "./stats.ts"
import { token } from "./token.ts"
import { upload } from "./upload.ts"

/**
 * The client of the service. ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY and ASSEMBLY_AUTH_SECRET are read when a command
 * needs the client.
 */
const service = AssemblyNode.layerConfig()

const access = Layer.merge(Credentials.layerConfig, RuntimeClient.layer)

/** Whether the arguments name a command, or need all commands: completions and the wizard. */
const isNeeded = (name: string, args: ReadonlyArray<string>): boolean =>
  args.some((arg) => arg === name || /^--(?:completions|wizard)(?:=|$)/.test(arg))

/**
 * Loads the module of a command only if the arguments need the command, so that the other commands and the help start
 * fast. The help shows a command that was not loaded with its name and description.
 */
const lazily = <const Name extends string, Input, Context, E, R>(
  args: ReadonlyArray<string>,
  name: Name,
  description: string,
  load: () => Promise<Command.Command<Name, Input, Context, E, R>>
) =>
  Effect.gen(function* () {
    if (!isNeeded(name, args)) return Command.withDescription(Command.make(name), description)
    return Command.withDescription(yield* Effect.promise(load), description)
  })

/** The root command with all commands, for the scripts of shells. */
const complete: Effect.Effect<Command.Command.Any> = Effect.suspend(() => assembly(["--completions"]))

/** The root command: `assembly <command>`. It loads only the commands that the arguments need. */
export const assembly = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const templates = yield* lazily(args, "templates", "Manage Templates", async () => {
    const module = await import("./templates.ts")
    return module.templates(service)
  })
  const credentials = yield* lazily(args, "credentials", "Manage Template Credentials", async () => {
    const module = await import("./credentials.ts")
    return module.credentials(service)
  })
  const keys = yield* lazily(args, "keys", "Manage Auth Keys", async () => {
    const module = await import("./keys.ts")
    return module.keys(service)
  })
  const assets = yield* lazily(args, "assets", "Manage the stored files of the Workspace (alpha)", async () => {
    const module = await import("./assets.ts")
    return module.assets(service)
  })
  const bill = yield* lazily(args, "bill", "Show the bill of a month", async () => {
    const module = await import("./bill.ts")
    return Command.provide(module.bill, service)
  })
  const notifications = yield* lazily(args, "notifications", "List and repeat notifications", async () => {
    const module = await import("./notifications.ts")
    return module.notifications(service)
  })
  const queues = yield* lazily(args, "queues", "Show the priority job slots", async () => {
    const module = await import("./queues.ts")
    return module.queues(service)
  })
  const get = yield* lazily(args, "get", "Show the Status of an Assembly and its results", async () => {
    const module = await import("./get.ts")
    return Command.provide(module.get, service)
  })
  const watch = yield* lazily(args, "watch", "Print each change of an Assembly until it ends", async () => {
    const module = await import("./watch.ts")
    return Command.provide(module.watch, service)
  })
  const wait = yield* lazily(args, "wait", "Wait until Assemblies have completed", async () => {
    const module = await import("./wait.ts")
    return Command.provide(module.wait, service)
  })
  const cancel = yield* lazily(args, "cancel", "Cancel Assemblies", async () => {
    const module = await import("./cancel.ts")
    return Command.provide(module.cancel, service)
  })
  const replay = yield* lazily(args, "replay", "Run the files of an Assembly again, as a new Assembly", async () => {
    const module = await import("./replay.ts")
    return Command.provide(module.replay, service)
  })
  const results = yield* lazily(args, "results", "List and download the results of an Assembly", async () => {
    const module = await import("./results.ts")
    return module.results(service)
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
    Command.withSubcommands([
      Command.provide(upload, service),
      Command.provide(stats, service),
      Command.provide(list, service),
      get,
      watch,
      wait,
      cancel,
      replay,
      results,
      Command.provide(move, service),
      templates,
      credentials,
      keys,
      assets,
      bill,
      notifications,
      queues,
      Command.provide(token, access),
      emulator,
      doctor,
      completions
    ])
  )
})
