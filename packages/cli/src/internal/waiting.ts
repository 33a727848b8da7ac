/** The time limits of the commands, and the line that says what a command waits for. */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Config from "effect/Config"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Output from "../Output.ts"

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
export const Show = Context.Reference<(text: string) => Effect.Effect<void>>("@assembly-effect/cli/Waiting/Show", {
  defaultValue: () => Output.hint
})

/** The host of ASSEMBLY_BASE_URL. The client has checked that the variable is a URL. */
const host = Effect.map(Config.String("ASSEMBLY_BASE_URL"), (text) => new URL(text).host)

const isTimedOut = Schema.is(ApiError.TimedOut)

/**
 * If an operation timed out, sets `after` of the error to the time that the user has waited. The error of the client
 * has only the limit of the last request, which may be short at the end of the deadline.
 */
const withWholeWait = <A, E, R>(
  operation: Effect.Effect<A, E | ApiError.TimedOut, R>
): Effect.Effect<A, E | ApiError.TimedOut, R> =>
  Effect.flatMap(Clock.currentTimeMillis, (start) =>
    Effect.catchIf(operation, isTimedOut, (error) =>
      Effect.flatMap(Clock.currentTimeMillis, (end) => {
        const after = Duration.seconds(Math.round((end - start) / 1000))
        return Effect.fail(new ApiError.TimedOut({ ...error, after }))
      })
    )
  )

/**
 * If an operation takes longer than `patience`, says what the command waits for. The line is written only once, and
 * never after an operation has succeeded: then the progress of an upload may be on the screen, and the line would be
 * written into this progress.
 */
const noticing = Effect.gen(function* () {
  const client = yield* AssemblyClient.AssemblyClient
  const service = yield* host
  let isSettled = false
  const notice = Effect.suspend(() => {
    if (isSettled) return Effect.void
    isSettled = true
    return Effect.flatMap(Show, (show) => show(`Waiting for ${service} …`))
  })
  const settle = Effect.sync(() => {
    isSettled = true
  })
  return AssemblyClient.AssemblyClient.of({
    ...client,
    run: (operation, input) =>
      Effect.scoped(
        Effect.andThen(
          Effect.forkScoped(Effect.delay(notice, patience)),
          Effect.tap(withWholeWait(client.run(operation, input)), () => settle)
        )
      )
  })
})

/** The client of the service for the commands. */
export const layer = Layer.effect(AssemblyClient.AssemblyClient, noticing).pipe(
  Layer.provideMerge(AssemblyNode.layerConfig(limits))
)
