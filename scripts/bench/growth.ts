/** Measures how a cost grows with the size of the work. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Harness from "./harness.ts"

/** The samples of one line: the samples of each size, in ascending order of the sizes. */
type Samples = ReadonlyArray<{ readonly size: number; readonly samples: ReadonlyArray<number> }>

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
 * Measures lines at every size, in milliseconds. `prepare` makes the measurements of one size, which run alternately.
 * Its scope ends before the next size.
 */
export const measure = <const Name extends string, E, R>(options: {
  readonly sizes: ReadonlyArray<number>
  readonly rounds: number
  readonly prepare: (size: number) => Effect.Effect<Readonly<Record<Name, Effect.Effect<number, E, R>>>, E, R>
}) =>
  Effect.gen(function* () {
    const lines = new Map<string, Array<Samples[number]>>()
    for (const size of options.sizes) {
      yield* Console.error(`  ${size} …`)
      const samples = yield* Effect.scoped(
        Effect.flatMap(options.prepare(size), (sides) => Harness.alternate(sides, { rounds: options.rounds }))
      )
      for (const [name, all] of Object.entries<ReadonlyArray<number>>(samples)) {
        lines.set(name, [...(lines.get(name) ?? []), { size, samples: all }])
      }
    }
    return [...lines].map(([name, samples]) => figure(name, samples))
  })
