/**
 * How the rows of the benchmark are measured: every side in alternation, after a warm-up, several times; what counts
 * is the median of the ratios of one round, since a machine's noise meets both sides of a round alike.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { fork } from "node:child_process"
import { fileURLToPath } from "node:url"

/** What a figure has to reach. */
export interface Target {
  readonly text: string
  readonly met: (value: number) => boolean
}

export const atLeast = (bound: number, unit = "×"): Target => ({
  text: `≥ ${bound} ${unit}`,
  met: (value) => value >= bound
})

export const atMost = (bound: number, unit = "×"): Target => ({
  text: `≤ ${bound} ${unit}`,
  met: (value) => value <= bound
})

/** A figure that explains another. */
export const unbound: Target = { text: "none", met: () => true }

/**
 * One figure of a row: a ratio to a peer, or an absolute value (then `peer` says against what bound). `samples` are
 * what was measured, in `unit`, by side.
 */
export interface Figure {
  readonly peer: string
  readonly target: Target
  readonly value: number
  readonly unit: string
  readonly samples: Readonly<Record<string, ReadonlyArray<number>>>
}

/** A row of the table: an id, the work in words, and a run that gives its figures. */
export interface Row {
  readonly id: string
  readonly work: string
  readonly run: Effect.Effect<ReadonlyArray<Figure>, BenchError, Scope.Scope>
}

/** A side of a row could not do its work. */
export class BenchError extends Error {
  readonly _tag = "BenchError"
}

/** The Promise of a peer as an Effect. */
export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, BenchError> =>
  Effect.tryPromise({ try: run, catch: (cause) => new BenchError(String(cause), { cause }) })

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** Seconds that an effect takes. */
export const seconds = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const start = performance.now()
    return Effect.map(effect, () => (performance.now() - start) / 1000)
  })

/** Megabytes a second of an effect that moves so many bytes. */
export const throughput =
  (bytes: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
    Effect.map(seconds(effect), (taken) => bytes / 1e6 / taken)

/**
 * The samples of several sides: each side once to warm up, then `rounds` rounds in which every side has its turn, the
 * first one a different one each time.
 */
export const alternate = <const Side extends string, E, R>(
  sides: Readonly<Record<Side, Effect.Effect<number, E, R>>>,
  options: { readonly rounds: number; readonly warmups?: number | undefined }
): Effect.Effect<Readonly<Record<Side, ReadonlyArray<number>>>, E, R> =>
  Effect.gen(function* () {
    const names = Object.keys(sides) as Array<Side>
    const samples = Object.fromEntries(names.map((name) => [name, [] as Array<number>])) as Record<Side, Array<number>>
    for (let warmup = 0; warmup < (options.warmups ?? 1); warmup++) {
      for (const name of names) yield* sides[name]
    }
    for (let round = 0; round < options.rounds; round++) {
      for (let turn = 0; turn < names.length; turn++) {
        const name = names[(round + turn) % names.length]!
        samples[name].push(yield* sides[name])
      }
    }
    return samples
  })

/** The figure "ours is so many times theirs": the median of the ratios, round by round. */
export const ratio = (options: {
  readonly peer: string
  readonly target: Target
  readonly unit: string
  readonly ours: ReadonlyArray<number>
  readonly theirs: ReadonlyArray<number>
}): Figure => ({
  peer: options.peer,
  target: options.target,
  unit: options.unit,
  value: median(options.ours.map((sample, round) => sample / options.theirs[round]!)),
  samples: { ours: options.ours, theirs: options.theirs }
})

/** The figure of a value that has a bound of its own, such as memory. */
export const absolute = (options: {
  readonly peer: string
  readonly target: Target
  readonly unit: string
  readonly ours: ReadonlyArray<number>
}): Figure => ({ ...options, value: median(options.ours), samples: { ours: options.ours } })

/**
 * A module in a process of its own that reports its first message, such as its port: `process.send?.({ port })`.
 * It ends with the scope.
 */
export const child = (
  module: URL,
  options?: { readonly args?: ReadonlyArray<string>; readonly execArgv?: ReadonlyArray<string> }
): Effect.Effect<{ readonly port: number }, BenchError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => fork(fileURLToPath(module), options?.args, { execArgv: [...(options?.execArgv ?? [])] })),
    (server) => Effect.sync(() => server.kill("SIGKILL"))
  ).pipe(
    Effect.flatMap((server) =>
      Effect.callback<{ readonly port: number }, BenchError>((resume) => {
        server.once("message", (message) => resume(Effect.succeed(message as { readonly port: number })))
        server.once("exit", (code) => resume(Effect.fail(new BenchError(`${module.href} ended with ${code}`))))
      })
    )
  )
