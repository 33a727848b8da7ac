/** What the programs of one side share. */
import type * as Layer from "effect/Layer"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import Process from "node:process"
import type { Cost } from "./harness.ts"

/** Prepares a side: the result runs one round. */
export type Side = () => () => Promise<unknown>

/** Runs an effect `count` times, with `concurrency` at once, in the services of a program. */
export const effects = <A, E, R, E2>(
  layer: Layer.Layer<R, E2>,
  effect: Effect.Effect<A, E, R>,
  count: number,
  concurrency: number
) => {
  const runtime = ManagedRuntime.make(layer)
  const all = Effect.replicateEffect(effect, count, { concurrency, discard: true })
  return () => runtime.runPromise(all)
}

/** Calls a function `count` times, with `concurrency` calls at once. */
export const calls = (count: number, concurrency: number, call: () => Promise<unknown>) => async () => {
  let left = count
  const worker = async () => {
    while (left-- > 0) await call()
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

/** Measures a round of a side whenever the parent process asks, and reports its cost. */
export const answer = (sides: Readonly<Record<string, Side>>, name: string): void => {
  const round = sides[name]?.()
  if (round === undefined) throw new Error(`no side ${name}`)
  const measure = async (): Promise<Cost> => {
    const cpu = Process.cpuUsage()
    const start = performance.now()
    await round()
    const seconds = (performance.now() - start) / 1000
    const { system, user } = Process.cpuUsage(cpu)
    return { seconds, cpu: (system + user) / 1e6 }
  }
  Process.on("message", () => void measure().then((cost) => Process.send?.(cost)))
  Process.send?.("ready")
}
