/**
 * The command line as one Effect. It parses the arguments, runs the command and reports each failure in one line.
 */
import * as Cause from "effect/Cause"
import * as CliOutput from "effect/cli/CliOutput"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Runtime from "effect/Runtime"
import * as Stdio from "effect/Stdio"
import { assembly } from "./commands/assembly.ts"
import * as DotEnv from "./DotEnv.ts"
import * as ErrorLine from "./ErrorLine.ts"
import * as Output from "./Output.ts"

/** Reports a wrong invocation in one line, without the help page. */
const presenter: CliOutput.Presenter = {
  present: (event) =>
    event._tag === "InvalidInvocation"
      ? Effect.forEach(new Set(event.errors.map(ErrorLine.fromError)), Output.error, { discard: true }).pipe(
          Effect.andThen(Output.hint(`See: ${event.commandPath.join(" ")} --help`))
        )
      : CliOutput.defaultPresenter.present(event)
}

/** Reports every failure except a wrong invocation, which the presenter has reported already. */
const report = <E>(cause: Cause.Cause<E>): Effect.Effect<void> => {
  const line = Runtime.getErrorReported(Cause.squash(cause)) ? ErrorLine.fromCause(cause) : undefined
  return line === undefined ? Effect.void : Output.error(line)
}

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
    Effect.provide([Output.layer, CliOutput.layerPresenter(presenter), DotEnv.layer]),
    // The standard output is only for results, because a shell evaluates what `assembly emulator` prints there.
    Effect.provideService(Logger.LogToStderr, true)
  )
