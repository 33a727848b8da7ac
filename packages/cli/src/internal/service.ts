/** The client of the service for the commands: its time limits, and the line that says what a command waits for. */
import { ApiError, AssemblyClient } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import { Clock, Config, Context, Duration, Effect, Layer, Predicate, Schema } from "./effect.ts"
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

const isTimedOut = Schema.is(ApiError.TimedOut)

/**
 * If an operation timed out, sets `after` of the error to the time that the user has waited. The error of the client
 * has only the limit of the last request, which may be short at the end of the deadline.
 */
const withWholeWait = Effect.fnUntraced(function* <A, E, R>(operation: Effect.Effect<A, E | ApiError.TimedOut, R>) {
  const start = yield* Clock.currentTimeMillis
  return yield* Effect.catchIf(operation, isTimedOut, (error) =>
    Effect.flatMap(Clock.currentTimeMillis, (end) => {
      const after = Duration.seconds(Math.round((end - start) / 1000))
      return Effect.fail(new ApiError.TimedOut({ ...error, after }))
    })
  )
})

/**
 * If an operation takes longer than `patience`, says what the command waits for. The line is written only once, and
 * never after an operation has succeeded: then the progress of an upload may be on the screen.
 */
const noticing = Effect.gen(function* () {
  const client = yield* AssemblyClient.AssemblyClient
  const { host } = new URL(yield* Config.String("ASSEMBLY_BASE_URL"))
  let isSettled = false
  const notice = Effect.suspend(() => {
    if (isSettled) return Effect.void
    isSettled = true
    return Effect.flatMap(Show, (show) => show(`Waiting for ${host} …`))
  })
  return AssemblyClient.AssemblyClient.of({
    ...client,
    run: (operation, input) =>
      Effect.forkScoped(Effect.delay(notice, patience)).pipe(
        Effect.andThen(
          Effect.tap(withWholeWait(client.run(operation, input)), () => Effect.sync(() => (isSettled = true)))
        ),
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
