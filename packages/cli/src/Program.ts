/**
 * The command line as one Effect. This Effect parses the arguments, runs the command, and reports a failure and what
 * the user can do about it.
 */
import * as Cause from "effect/Cause"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Runtime from "effect/Runtime"
import * as Stdio from "effect/Stdio"
import * as Terminal from "effect/Terminal"
import { assembly } from "./commands/assembly.ts"
import * as DotEnv from "./DotEnv.ts"
import * as HelpText from "./HelpText.ts"
import { currentAddress } from "./internal/currentAddress.ts"
import * as Invocation from "./internal/invocation.ts"
import * as LostTerminal from "./internal/lostTerminal.ts"
import * as Output from "./Output.ts"

/**
 * Loads the modules that describe errors. These modules import the errors of several packages. Therefore this module
 * loads them only after a failure, so that most commands start faster.
 */
const loadErrors = Effect.promise(async () => {
  const [ErrorLine, NextStep] = await Promise.all([import("./ErrorLine.ts"), import("./NextStep.ts")])
  return { ErrorLine, NextStep }
})

const reportInvocation = Effect.fnUntraced(function* ({ commandPath, errors }: CliOutput.Presenter.InvalidInvocation) {
  const { ErrorLine } = yield* loadErrors
  for (const line of new Set(errors.map((error) => ErrorLine.fromError(error)))) yield* Output.error(line)
  const [, ...path] = commandPath
  yield* Output.hint(`See: ${yield* Invocation.command([...path, "--help"].join(" "))}`)
})

/**
 * Presents the help in lines that fit the terminal. Presents a wrong invocation as one line for each error, and the
 * command that shows the help.
 */
const presenter = Effect.map(Terminal.Terminal, (terminal): CliOutput.Presenter => ({
  present: (event) => {
    switch (event._tag) {
      case "InvalidInvocation":
        return reportInvocation(event)
      case "Help":
        return Effect.all([Output.layout, Invocation.Program]).pipe(
          Effect.flatMap(([layout, program]) => Output.report(HelpText.render(event.helpDoc, { ...layout, program }))),
          Effect.provideService(Terminal.Terminal, terminal)
        )
      default:
        return CliOutput.defaultPresenter.present(event)
    }
  }
}))

/**
 * Reports a failure, unless it was reported already: by the presenter (a wrong invocation), by the program that
 * `assembly emulator` ran, or by `launch.ts` (lost output). Interruptions are left to `Fate`.
 */
const report = Effect.fnUntraced(function* <E>(cause: Cause.Cause<E>) {
  const error = Cause.squash(cause)
  if (!Runtime.getErrorReported(error) || LostTerminal.is(cause)) return
  const { ErrorLine, NextStep } = yield* loadErrors
  const address = yield* currentAddress
  const line = ErrorLine.fromCause(cause, address.baseUrl?.host)
  if (line === undefined) return
  yield* Output.error(line)
  const next = NextStep.fromError(error, address)
  if (next !== undefined) yield* Output.hint(next)
  if (NextStep.isOfSettings(error)) for (const note of yield* DotEnv.notes) yield* Output.hint(note)
})

/**
 * Runs the command that the arguments in `Stdio` name.
 *
 * @since 0.1.0
 * @category running
 */
export const run = (version: string) =>
  Stdio.Stdio.use(({ args }) => args).pipe(
    Effect.flatMap((args) => Effect.flatMap(assembly(args), (root) => Command.runWith(root, { version })(args))),
    Effect.tapCause(report),
    Effect.provide([Output.layer, Layer.effect(CliOutput.Presenter, presenter), DotEnv.layer]),
    // The standard output is only for results, because a shell evaluates what `assembly emulator` prints there.
    Effect.provideService(Logger.LogToStderr, true)
  )
