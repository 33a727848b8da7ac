/** The client of the service for the commands: its time limits, and the line that says what a command waits for. */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Context from "effect/Context"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Failure from "./failure.ts"
import * as Output from "./output.ts"

/**
 * The time limits of one request and of all attempts of an operation. They are shorter than the defaults of the client,
 * because a person waits at the terminal.
 */
const limits = { requestTimeout: "30 seconds", deadline: "60 seconds" } as const

/** After this time without an answer, the command says what it waits for. */
const patience = "5 seconds"

/**
 * Shows what a command waits for. A command that draws its progress shows the text itself, because a line of another
 * writer would be in the middle of the progress.
 */
export const Show = Context.Reference<(text: string) => Effect.Effect<void>>("@assembly-effect/cli/Show", {
  defaultValue: () => Output.hint
})

/**
 * If an operation takes longer than `patience`, says what the command waits for. The line is written only once, and
 * never after an operation has succeeded: then the progress of an upload may be on the screen.
 */
const noticing = Effect.gen(function* () {
  const client = yield* AssemblyClient.AssemblyClient
  const { host } = new URL(yield* Config.String("ASSEMBLY_BASE_URL"))
  let isSettled = false
  const settle = Effect.sync(() => (isSettled = true))
  const notice = Effect.suspend(() =>
    isSettled
      ? Effect.void
      : Effect.andThen(
          settle,
          Effect.flatMap(Show, (show) => show(`Waiting for ${host} …`))
        )
  )
  return AssemblyClient.AssemblyClient.of({
    ...client,
    run: (operation, input) =>
      Effect.forkScoped(Effect.delay(notice, patience)).pipe(
        Effect.andThen(Effect.tap(client.run(operation, input), () => settle)),
        Effect.tapError((error) =>
          Effect.sync(() =>
            Failure.keepInputs(error, { ...(Predicate.isObject(input.params) ? input.params : {}), ...input.path })
          )
        ),
        Effect.scoped
      )
  })
})

/** The client of the service for the commands. It reads the three variables of the service. */
export const layer = Layer.effect(AssemblyClient.AssemblyClient, noticing).pipe(
  Layer.provideMerge(AssemblyNode.layerConfig(limits))
)
