/**
 * `Durable.cancel` and `Durable.retry` of one key at the same time. The statements of the callers come in a seeded order,
 * and the runner works between them. The outcome is that of a serial order of the calls.
 */
import { AssemblyNode } from "@assembly-effect/node"
import { Durable, type DurableJob } from "@assembly-effect/workflow"
import { assert, layer } from "@assembly-effect/testkit/flow"
import { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import { Cause, Deferred, Duration, Effect, Exit, Layer } from "effect"
import { Statement } from "effect/sql"
import * as Cluster from "@assembly-effect/testkit/cluster/Cluster"
import * as Server from "@assembly-effect/testkit/postgres/Postgres"
import { assemblies, failing, job, slow, until } from "./support.ts"

type What = "cancel" | "retry"

/** Its Assembly runs until somebody cancels it. */
const endless = { steps: slow(600) }

/** What a caller was told. `killed`: it ended before it was told anything. */
interface Said {
  readonly what: What
  readonly outcome: string
  readonly summary: DurableJob.Summary | undefined
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

/** Runs calls for one key. With `kills`, the first caller ends before one of its statements. */
const race = (
  seed: number,
  key: string,
  calls: ReadonlyArray<What>,
  kills: boolean,
  run: <A, E>(effect: Effect.Effect<A, E, Durable.Durable>, caller: number) => Effect.Effect<A, E, Durable.Durable>
): Effect.Effect<ReadonlyArray<Said>, never, Durable.Durable> =>
  Effect.suspend(() => {
    const draw = new Draw(seed)
    const turns = makeTurns(draw, calls.length)
    const last = kills ? 1 + draw.below(3) : Infinity
    return Effect.forEach(
      calls,
      (what, caller) => {
        let statements = 0
        const before: Statement.Transformer = (statement) =>
          Effect.suspend(() =>
            ++statements > last && caller === 0 ? Effect.interrupt : Effect.as(turns.await(caller), statement)
          )
        const call: Effect.Effect<DurableJob.Summary, { readonly _tag: string }, Durable.Durable> =
          what === "cancel" ? Durable.cancel(key) : Durable.retry(key, { params: endless })
        return run(call, caller).pipe(
          Effect.provideService(Statement.CurrentTransformer, before),
          Effect.matchCause({
            onSuccess: (summary): Said => ({ what, outcome: `ok ${summary.attempt} ${summary.state}`, summary }),
            onFailure: (cause): Said => ({
              what,
              outcome: Cause.hasInterruptsOnly(cause)
                ? "killed"
                : (cause.reasons.find(Cause.isFailReason)?.error._tag ?? Cause.pretty(cause)),
              summary: undefined
            })
          }),
          Effect.ensuring(turns.end)
        )
      },
      { concurrency: "unbounded" }
    )
  })

/** The Assemblies that still run. */
const running = Effect.map(
  Effect.forEach(["uploading", "executing"] as const, (type) => assemblies(type)),
  (lists) => lists.flat().length
)

/** What a job is before the calls. */
const beginnings = ["Failed", "Canceled", "Canceling", "Uploading"] as const

const calls: ReadonlyArray<ReadonlyArray<What>> = [
  ["cancel", "retry"],
  ["retry", "cancel", "retry"],
  ["cancel", "retry", "cancel"]
]

/** Starts a job, and waits until it is as the race begins with it. */
const begin = (key: string, content: Parameters<typeof job>[1][number], beginning: (typeof beginnings)[number]) =>
  Effect.gen(function* () {
    const isFailing = beginning === "Failed"
    yield* Durable.start(job(key, [content], { params: isFailing ? failing : endless }))
    yield* until(key, ({ state }) => state === (isFailing ? "Failed" : "Processing"))
    if (beginning.startsWith("Cancel")) yield* Durable.cancel(key)
    if (beginning === "Canceled") yield* until(key, ({ state }) => state === "Canceled")
  })

const settled: ReadonlySet<DurableJob.State> = new Set(["Processing", "Canceled", "Failed"])

/** Checks what the callers were told, and the Assemblies that run when the runners have done the same. */
const check = (key: string, trace: string, said: ReadonlyArray<Said>) =>
  Effect.gen(function* () {
    let canceled = 0
    for (const { outcome, summary, what } of said) {
      if (what === "retry") {
        assert.include(["ok", "killed", "NotRetryable", "AssemblyMayRun"], outcome.split(" ")[0], trace)
      } else if (summary !== undefined) {
        // An acknowledged cancellation has canceled the attempt that it names, or that attempt had ended.
        assert.include(["Canceling", "Canceled", "Failed"], summary.state, trace)
        if (summary.state.startsWith("Cancel")) canceled = Math.max(canceled, summary.attempt)
      }
    }
    const status = yield* until(key, ({ state }) => settled.has(state))
    // An attempt that runs is that of a retry after the cancellation.
    if (status.state === "Processing") assert.isAbove(status.attempt, canceled, trace)
    assert.strictEqual(yield* running, status.state === "Processing" ? 1 : 0, trace)
    yield* Durable.cancel(key)
    yield* until(key, ({ state }) => state === "Canceled" || state === "Failed")
    assert.strictEqual(yield* running, 0, trace)
  })

const show = (said: ReadonlyArray<Said>) => said.map(({ outcome, what }) => `${what} ${outcome}`).join(", ")

layer(Layer.empty)("A cancellation beside a retry by another process", (it) => {
  it.effect("has the outcome of one of the two orders, although one of two runners is killed", function* () {
    const postgres = yield* Server.make
    const cluster = yield* Cluster.make({ database: yield* postgres.database("race"), expiry: Duration.seconds(3) })
    const { baseUrl, credentials } = cluster.emulator
    const made = yield* cluster.file("a", 1000)
    const [source] = made.job.files
    const path = source?.source._tag === "Path" ? source.source.path : ""
    const contexts = [yield* Layer.build(cluster.client), yield* Layer.build(Layer.fresh(cluster.client))]
    yield* Effect.gen(function* () {
      const first = yield* cluster.runner("A")
      yield* cluster.runner("B")
      const kinds = new Set<string>()
      for (let seed = 1; seed <= 12; seed++) {
        const key = `race-${seed}`
        const beginning = beginnings[seed % beginnings.length] ?? "Failed"
        yield* begin(key, { ...made, path }, beginning)
        // Every third race has a caller that ends between two of its statements.
        const said = yield* race(seed, key, calls[seed % calls.length] ?? [], seed % 3 === 0, (call, caller) =>
          Effect.provideContext(call, contexts[caller % 2]!)
        )
        if (seed === 6) yield* first.signal("SIGKILL")
        kinds.add(show(said))
        yield* check(key, `seed ${seed}, ${beginning}: ${show(said)}`, said)
      }
      // The seeds must have seen different orders.
      assert.isAtLeast(kinds.size, 6, [...kinds].join("\n"))
    }).pipe(
      Effect.provideContext(contexts[0]!),
      Effect.provide(AssemblyNode.layer({ baseUrl, key: credentials.key, secret: credentials.secret }))
    )
  })
})
