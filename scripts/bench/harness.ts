/**
 * Measures the rows of the benchmark. After a warm-up, every side runs several times in alternation. The result is the
 * median of the ratios of the rounds, because the noise of the machine affects both sides of a round alike.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { fork, type ChildProcess } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type * as Svg from "./svg.ts"

/** The target of a figure. */
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

/** A figure without a target, which explains another figure. */
export const unbound: Target = { text: "none", met: () => true }

/**
 * One figure of a row: a ratio to a peer, or an absolute value. For an absolute value, `peer` names the bound.
 * `samples` are the measurements of each side in `unit`. A figure of growth has a `line` of the chart of its row.
 */
export interface Figure {
  readonly peer: string
  readonly target: Target
  readonly value: number
  readonly unit: string
  readonly samples: Readonly<Record<string, ReadonlyArray<number>>>
  readonly line?: Svg.Line
}

/**
 * A row of the table: an id, a description of the work, and a function that measures its figures. `axes` are the labels
 * of its chart, with units.
 */
export interface Row {
  readonly id: string
  readonly work: string
  readonly axes?: { readonly x: string; readonly y: string }
  readonly run: Effect.Effect<ReadonlyArray<Figure>, BenchError, Scope.Scope>
}

/** The measurement of one side of a row failed. */
export class BenchError extends Error {
  readonly _tag = "BenchError"
}

/** Converts the Promise of a peer to an Effect. */
export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, BenchError> =>
  Effect.tryPromise({ try: run, catch: (cause) => new BenchError(String(cause), { cause }) })

/** Converts an error of an operation to a `BenchError`, which ends the benchmark. */
export const orFail = Effect.mapError((error: { readonly message: string }) => new BenchError(error.message))

/** A folder that is removed with the scope. */
export const folder = Effect.acquireRelease(
  attempt(() => mkdtemp(join(tmpdir(), "bench-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The duration of an effect in seconds. */
export const seconds = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const start = performance.now()
    return Effect.map(effect, () => (performance.now() - start) / 1000)
  })

/** The duration of an effect in milliseconds. */
export const millis = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.map(seconds(effect), (taken) => taken * 1000)

/** The mean duration of an effect that is short, over several runs one after another. */
export const meanMillis =
  (runs: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
    Effect.map(millis(Effect.repeat(effect, { times: runs - 1 })), (taken) => taken / runs)

/** The throughput of an effect that moves the given number of bytes, in megabytes a second. */
export const throughput =
  (bytes: number) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
    Effect.map(seconds(effect), (taken) => bytes / 1e6 / taken)

/**
 * Measures several sides: each side once to warm up, then `rounds` rounds in which every side runs once. Each round
 * starts with another side.
 */
export const alternate = <const Side extends string, A, E, R>(
  sides: Readonly<Record<Side, Effect.Effect<A, E, R>>>,
  options: { readonly rounds: number; readonly warmups?: number | undefined }
): Effect.Effect<Readonly<Record<Side, ReadonlyArray<A>>>, E, R> =>
  Effect.gen(function* () {
    const names = Object.keys(sides) as Array<Side>
    const samples = Object.fromEntries(names.map((name) => [name, [] as Array<A>])) as Record<Side, Array<A>>
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

/** The ratio of ours to theirs: the median of the ratios of the rounds. */
export const ratio = (
  peer: string,
  target: Target,
  unit: string,
  ours: ReadonlyArray<number>,
  theirs: ReadonlyArray<number>
): Figure => ({
  peer,
  target,
  unit,
  value: median(ours.map((sample, round) => sample / theirs[round]!)),
  samples: { ours, theirs }
})

/** A figure with an absolute bound, such as memory. */
export const absolute = (peer: string, target: Target, unit: string, ours: ReadonlyArray<number>): Figure => ({
  peer,
  target,
  unit,
  value: median(ours),
  samples: { ours }
})

interface ChildOptions {
  readonly args?: ReadonlyArray<string>
  readonly execArgv?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: "SIGKILL" | "SIGTERM"
}

const start = (module: URL, options?: ChildOptions): Effect.Effect<ChildProcess, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() =>
      fork(fileURLToPath(module), options?.args, {
        execArgv: [...(options?.execArgv ?? [])],
        env: { ...process.env, ...options?.env }
      })
    ),
    (started) => Effect.sync(() => started.kill(options?.signal ?? "SIGKILL"))
  )

/** Waits for the next message of a process, after it was sent `question`. */
const next = <A>(module: URL, process: ChildProcess, question?: string): Effect.Effect<A, BenchError> =>
  Effect.callback((resume) => {
    const stop = () => process.off("message", onMessage).off("exit", onExit)
    const onMessage = (message: unknown) => {
      stop()
      resume(Effect.succeed(message as A))
    }
    const onExit = (code: number | null) => resume(Effect.fail(new BenchError(`${module.href} ended with ${code}`)))
    process.on("message", onMessage).on("exit", onExit)
    if (question !== undefined) process.send(question)
    return Effect.sync(stop)
  })

/**
 * Runs a module in a separate process and returns its first message, such as its port: `process.send?.({ port })`. The
 * process ends with the scope.
 */
export const child = <A = { readonly port: number }>(
  module: URL,
  options?: ChildOptions
): Effect.Effect<A, BenchError, Scope.Scope> =>
  Effect.flatMap(start(module, options), (started) => next<A>(module, started))

/** What a round of a side costs, in seconds: the time, and the processor time of all threads. */
export interface Cost {
  readonly seconds: number
  readonly cpu: number
}

/**
 * Runs a program once for each side, in separate processes. Each says that it is ready, and then measures one round
 * whenever it is asked. So the garbage and the compiled code of one side do not affect the other sides.
 */
export const workers = <const Side extends string>(
  program: string,
  sides: ReadonlyArray<Side>,
  args: ReadonlyArray<string | number>
): Effect.Effect<Readonly<Record<Side, Effect.Effect<Cost, BenchError>>>, BenchError, Scope.Scope> =>
  Effect.gen(function* () {
    const all = {} as Record<Side, Effect.Effect<Cost, BenchError>>
    const module = new URL(`programs/${program}.ts`, import.meta.url)
    for (const side of sides) {
      const process = yield* start(module, { args: [side, ...args.map(String)] })
      yield* next(module, process)
      all[side] = next<Cost>(module, process, "run")
    }
    return all
  })
