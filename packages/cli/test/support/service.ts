import { type ApiError, AssemblyClient } from "@assembly-effect/api"
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { type Context, Effect, Layer, Result, Schema } from "effect"
import { Command } from "effect/cli"
import type { HttpClient } from "effect/http"
import * as Screen from "./screen.ts"
import * as Cli from "../../src/internal/cli.ts"

/** The services of every command, with a screen that is not a terminal. */
const platform = Screen.make({ columns: 0, animated: false }).layer.pipe(Layer.provideMerge(NodeServices.layer))

/** A service that returns the same encoded response for every operation, and records the encoded requests. */
export const make = (answer: unknown) => answering(() => answer)

/**
 * A service that returns an encoded response for each named operation, and records the encoded requests. An operation
 * in `failures` fails instead.
 */
export const makeOf = (
  answers: Readonly<Record<string, unknown>>,
  failures: Readonly<Record<string, ApiError.AuthenticationFailed>> = {}
) => answering((name) => answers[name], failures)

const answering = (
  answerOf: (name: string) => unknown,
  failures: Readonly<Record<string, ApiError.AuthenticationFailed>> = {}
) => {
  const asked: Array<{ readonly name: string; readonly path: unknown; readonly params: unknown }> = []
  const client = Layer.succeed(AssemblyClient.AssemblyClient, {
    origins: Result.getOrThrow(ServiceOrigins.make("https://api2.example.com")),
    run: <Op extends Operation.Any>(operation: Op, input: Operation.Input<Op>) =>
      Effect.gen(function* () {
        const params = yield* Effect.orDie(Schema.encodeEffect(operation.params)(input.params))
        asked.push({ name: operation.name, path: input.path, params })
        const failure = failures[operation.name]
        // Every operation has this failure.
        if (failure !== undefined) return yield* Effect.fail(failure as Operation.Failure<Op>)
        return yield* Effect.orDie(Schema.decodeUnknownEffect(operation.success)(answerOf(operation.name)))
      }),
    open: () => Effect.die(new Error("no address is opened"))
  })
  return { asked, client, layer: Layer.merge(client, platform) }
}

type Clients = AssemblyClient.AssemblyClient | HttpClient.HttpClient

/** Runs a command as the program `assembly` does, with the client of the test. */
export const run = <Name extends string, Input, E, R, C>(
  command: Command.Command<Name, Input, C, E, R>,
  args: ReadonlyArray<string>
) =>
  Effect.contextWith((context: Context.Context<AssemblyClient.AssemblyClient>) =>
    Effect.provideService(
      Command.runWith(command, { version: "0.0.0" })(args),
      Cli.Client,
      // Only the commands that download use an HTTP client.
      Layer.succeedContext(context as Context.Context<Clients>)
    )
  )
