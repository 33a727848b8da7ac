/** Measures how a cost grows with the size of the work. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Harness from "./harness.ts"
import * as Uploads from "./uploads.ts"

/** The samples of one line: the samples of each size, in ascending order of the sizes. */
type Samples = ReadonlyArray<{ readonly size: number; readonly samples: ReadonlyArray<number> }>

type Needs = Scope.Scope | Uploads.Services

/** The lines of one size, which are measured alternately, in milliseconds. */
type Lines = Readonly<Record<string, Effect.Effect<number, Harness.BenchError, Uploads.Services>>>

/**
 * The worst step between two sizes. The value of a step is the ratio of the costs divided by the ratio of the sizes: 1
 * is linear growth, and less is better. The larger size is at least eight times the smaller size, because noise would
 * hide the growth of a smaller step.
 */
export const worstStep = (costs: ReadonlyArray<{ readonly size: number; readonly cost: number }>): number => {
  const steps = costs.flatMap(({ cost, size }, index) => {
    const before = costs.slice(0, index).findLast((one) => one.size * 8 <= size)
    return before === undefined ? [] : [cost / before.cost / (size / before.size)]
  })
  return Math.max(...steps)
}

/** Costs may grow by 20 % more than the size, because of noise: 12 times the cost for 10 times the size. */
const target = Harness.atMost(1.2, "× linear")

/** One line as a figure: the worst step, and the samples of each size in milliseconds. */
const figure = (name: string, samples: Samples): Harness.Figure => ({
  peer: name,
  target,
  unit: "× linear",
  value: worstStep(samples.map(({ samples: all, size }) => ({ size, cost: Harness.median(all) }))),
  samples: Object.fromEntries(samples.map(({ samples: all, size }) => [String(size), all])),
  line: { name, points: samples.map(({ samples: all, size }) => ({ x: size, y: Harness.median(all) })) }
})

/**
 * A row that measures lines at every size. `begin` returns the function that prepares a size; what it needs for one size
 * ends before the next.
 */
export const row = ({
  begin,
  rounds,
  sizes,
  ...named
}: Required<Omit<Harness.Row, "run">> & {
  readonly sizes: ReadonlyArray<number>
  readonly rounds: number
  readonly begin: Effect.Effect<
    (size: number) => Effect.Effect<Lines, Harness.BenchError, Needs>,
    Harness.BenchError,
    Needs
  >
}): Harness.Row => ({
  ...named,
  run: Effect.gen(function* () {
    const prepare = yield* begin
    const lines = new Map<string, Array<Samples[number]>>()
    for (const size of sizes) {
      yield* Console.error(`  ${size} …`)
      const measured = Effect.flatMap(prepare(size), (sides) => Harness.alternate(sides, { rounds }))
      for (const [name, samples] of Object.entries(yield* Effect.scoped(measured))) {
        lines.set(name, [...(lines.get(name) ?? []), { size, samples }])
      }
    }
    return [...lines].map(([name, samples]) => figure(name, samples))
  }).pipe(Uploads.withNode)
})
