/**
 * Progress is shown on the standard error, so that the standard output contains only results.
 */
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as Terminal from "effect/Terminal"
import * as Output from "./Output.ts"

/**
 * The services with which a program shows progress on the standard error. If the value is undefined, the program shows
 * progress with the `Terminal` of its own context.
 *
 * @since 0.1.0
 * @category references
 */
export const StandardError = Context.Reference<Context.Context<Terminal.Terminal> | undefined>(
  "@assembly-effect/cli/StandardError",
  { defaultValue: () => undefined }
)

const terminal = Layer.effect(
  Terminal.Terminal,
  Effect.map(Terminal.Terminal, (standard) => Terminal.make({ ...standard, ...Output.standardError }))
)

const capabilities = TerminalCapabilities.layer.pipe(
  Layer.provide(
    Layer.effect(
      Stdio.Stdio,
      Effect.map(Stdio.Stdio, (stdio) => Stdio.make({ ...stdio, stdoutIsTerminal: stdio.stderrIsTerminal }))
    )
  )
)

/**
 * Sets {@link StandardError} to the services that write to the standard error of the process.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<never, never, Terminal.Terminal | Stdio.Stdio> = Layer.effect(
  StandardError,
  Effect.flatMap(Effect.scope, (scope) => Layer.buildWithScope(Layer.merge(terminal, capabilities), scope))
)

/**
 * Runs a program that shows progress, with the services of {@link StandardError}.
 *
 * @since 0.1.0
 * @category running
 */
export const show = <A, E, R>(program: Effect.Effect<A, E, R | Terminal.Terminal>) =>
  Effect.flatMap(StandardError, (services) =>
    services === undefined ? program : Effect.provideContext(program, services)
  )
