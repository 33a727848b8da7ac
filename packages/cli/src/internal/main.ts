/** The command line as one Effect: it parses the arguments, runs the command, and reports a failure and what to do. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { CliConfig, CliOutput, Command, GlobalFlag } from "effect/cli"
import { Cause, Effect, Layer, Logger, Runtime, Stdio, Terminal } from "./effect.ts"
import { root } from "../commands/root.ts"
import { Address, Failure, Help, Output, Settings } from "./index.ts"

/** The module that describes errors imports the errors of several packages. It is loaded only after a failure. */
const loadAdvice = Effect.promise(() => import("./advice.ts"))

/** Presents the help in lines that fit the terminal, and a wrong invocation as one line for each error. */
const presenter = Effect.map(Terminal.Terminal, (terminal): CliOutput.Presenter => ({
  present: Effect.fnUntraced(function* (event) {
    if (event._tag === "Help") {
      const layout = yield* Effect.provideService(Output.layout, Terminal.Terminal, terminal)
      return yield* Output.report(Help.render(event.helpDoc, { ...layout, program: yield* Help.Program }))
    }
    if (event._tag === "Version") return yield* CliOutput.defaultPresenter.present(event)
    const Advice = yield* loadAdvice
    for (const line of new Set(event.errors.map((error) => Advice.line(error)))) yield* Output.error(line)
    yield* Output.hint(`See: ${["assembly", ...event.commandPath.slice(1), "--help"].join(" ")}`)
  })
}))

/**
 * Reports a failure, unless it was reported already: by the presenter (a wrong invocation), by the program that
 * `assembly emulator` ran, or by `launch.ts` (lost output). An interrupted command says itself what became of its work.
 */
const report = Effect.fnUntraced(function* <E>(cause: Cause.Cause<E>) {
  const error = Cause.squash(cause)
  if (!Runtime.getErrorReported(error) || Cause.hasInterruptsOnly(cause)) return
  const Advice = yield* loadAdvice
  const address = yield* Address.of(error)
  const isDefect = !cause.reasons.some(Cause.isFailReason)
  // A defect is a bug in this program, so its stack is kept.
  const line = isDefect ? Cause.pretty(cause) : Advice.line(error, address.baseUrl?.host)
  if (line === "") return
  yield* Output.error(line)
  const next = Advice.next(error, address)
  if (next !== undefined) yield* Output.hint(next)
  if (Advice.isOfSettings(error)) for (const note of yield* Settings.notes) yield* Output.hint(note)
})

/** `--json id,created` as `--json=id,created`. Without a comma, the next argument may be an id, and stays one. */
const attachFields = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isFields = (arg: string | undefined) => /^\w+(?:,\w+)+$/.test(arg ?? "")
  return args.flatMap((arg, index) => {
    if (arg === "--json" && isFields(args[index + 1])) return [`--json=${args[index + 1]}`]
    return args[index - 1] === "--json" && isFields(arg) ? [] : [arg]
  })
}

/** `help list` as `list --help`, and `version` as `--version`: so users know it from other programs. */
const asFlags = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, second = ""] = args
  if (first === "version" && args.length === 1) return ["--version"]
  const isPage = second.startsWith("-") || Help.page(`help ${second}`).rows.length > 0
  return first === "help" && !isPage ? [...args.slice(1), "--help"] : args
}

/** Fails for the name of a file that begins with `-`: the `h` in it would show the help, and upload nothing. */
const refuseName = (args: ReadonlyArray<string>) => {
  const options = args[0] === "upload" ? args.slice(1, [...args, "--"].indexOf("--")) : []
  const name = options.find((arg) => /^-(?!-|o=)./.test(arg) && arg.includes("h") && !/^-[hry]+$/.test(arg))
  return name === undefined
    ? Effect.succeed(args)
    : Effect.fail(Failure.usage(`${name}: there is no such flag; ./${name} is the file`))
}

/** Runs the command that the arguments in `Stdio` name. */
export const run = (version: string) =>
  Stdio.Stdio.use(({ args }) => Effect.flatMap(args, (all) => refuseName(attachFields(asFlags(all))))).pipe(
    Effect.flatMap((args) => Effect.flatMap(root(args), (command) => Command.runWith(command, { version })(args))),
    Effect.tapCause(report),
    Effect.provide([
      Output.layer,
      Layer.effect(CliOutput.Presenter, presenter),
      CliConfig.layer({ builtIns: [GlobalFlag.Help, GlobalFlag.Version] }),
      Settings.layerDotEnv
    ]),
    // The standard output is only for results, because a shell evaluates what `assembly emulator` prints there.
    Effect.provideService(Logger.LogToStderr, true)
  )

/** Runs the program to its end, and exits with the code of its outcome. */
export const main = (version: string): void =>
  run(version).pipe(
    Effect.provide(NodeServices.layer),
    Effect.provideService(Help.Program, Help.ofProcess(process.env, process.argv[1] ?? "")),
    NodeRuntime.runMain({ disableErrorReporting: true, teardown: (exit, onExit) => onExit(Failure.codeOfExit(exit)) })
  )
