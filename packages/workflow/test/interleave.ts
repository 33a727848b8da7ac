/** Runs callers of one job at the same time, with a seeded order of their statements. */
import { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import { Durable } from "@assembly-effect/workflow"
import type { Job, Summary } from "@assembly-effect/workflow/DurableJob"
import { Cause, Deferred, Effect, Exit } from "effect"
import { Statement } from "effect/sql"

export interface Call {
  readonly what: "cancel" | "retry"
  readonly key: string
  readonly changes: Partial<Pick<Job, "params" | "files">>
}

/** What a caller was told. `killed`: it ended before it was told anything. */
export interface Said {
  readonly what: Call["what"]
  readonly outcome: string
  readonly summary: Summary | undefined
}

/**
 * Gives turns to callers: when each of them is before a statement or has ended, one of them runs its statement, and goes
 * on to its next one.
 */
const makeTurns = (draw: Draw, callers: number) => {
  const waiting = new Map<number, Deferred.Deferred<void>>()
  let left = callers
  const next = () => {
    if (waiting.size < left || left === 0) return
    const [caller, turn] = [...waiting][draw.below(waiting.size)] ?? []
    if (caller === undefined || turn === undefined) return
    waiting.delete(caller)
    Deferred.doneUnsafe(turn, Exit.void)
  }
  return {
    await: (caller: number) =>
      Effect.suspend(() => {
        const turn = Deferred.makeUnsafe<void>()
        waiting.set(caller, turn)
        next()
        return Deferred.await(turn)
      }),
    end: Effect.sync(() => {
      left--
      next()
    })
  }
}

/** Runs the calls. With `kills`, the first caller ends before one of its statements. */
export const race = (
  seed: number,
  calls: ReadonlyArray<Call>,
  { kills }: { readonly kills: boolean },
  run: <A, E>(effect: Effect.Effect<A, E, Durable.Durable>, caller: number) => Effect.Effect<A, E, Durable.Durable> = (
    effect
  ) => effect
): Effect.Effect<ReadonlyArray<Said>, never, Durable.Durable> =>
  Effect.suspend(() => {
    const draw = new Draw(seed)
    const turns = makeTurns(draw, calls.length)
    const last = kills ? 1 + draw.below(3) : Infinity
    return Effect.forEach(
      calls,
      ({ changes, key, what }, caller) => {
        let statements = 0
        const before: Statement.Transformer = (statement) =>
          Effect.suspend(() =>
            ++statements > last && caller === 0 ? Effect.interrupt : Effect.as(turns.await(caller), statement)
          )
        const call: Effect.Effect<Summary, { readonly _tag: string }, Durable.Durable> =
          what === "cancel" ? Durable.cancel(key) : Durable.retry(key, changes)
        return run(call, caller).pipe(
          Effect.provideService(Statement.CurrentTransformer, before),
          Effect.matchCause({
            onSuccess: (summary): Said => ({ what, outcome: `ok ${summary.attempt} ${summary.state}`, summary }),
            onFailure: (cause): Said => ({
              what,
              outcome: Cause.hasInterruptsOnly(cause)
                ? "killed"
                : (cause.reasons.flatMap((reason) => (Cause.isFailReason(reason) ? [reason.error._tag] : []))[0] ??
                  Cause.pretty(cause)),
              summary: undefined
            })
          }),
          Effect.ensuring(turns.end)
        )
      },
      { concurrency: "unbounded" }
    )
  })
