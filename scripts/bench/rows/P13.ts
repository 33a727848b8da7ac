import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import { memory } from "../remember.ts"
import * as Service from "../service.ts"

const rounds = 3

/** BENCH_JOBS=100000 runs more jobs. */
const many = Number(process.env["BENCH_JOBS"] ?? 10_000)

/** Runs the jobs in a separate process, against a new emulator in another process. */
const run = (count: number) =>
  Effect.scoped(
    Effect.flatMap(Service.separate, ({ port }) => memory("batch", [`http://127.0.0.1:${port}`, "", count]))
  )

export const row: Harness.Row = {
  id: "P13",
  work: `a batch of ${many.toLocaleString("en")} jobs with one file of 1 KiB each`,
  run: Effect.gen(function* () {
    const long: Array<number> = []
    const short: Array<number> = []
    const slope: Array<number> = []
    for (let round = 0; round < rounds; round++) {
      const few = yield* run(1000)
      const all = yield* run(many)
      short.push(few.rate ?? 0)
      long.push(all.rate ?? 0)
      slope.push(all.slope ?? 0)
    }
    return [
      Harness.ratio({
        peer: "1,000 jobs: rate",
        target: Harness.atLeast(0.8),
        unit: "jobs/s",
        ours: long,
        theirs: short
      }),
      Harness.absolute({
        peer: "growth in 1,000 jobs",
        target: Harness.atMost(1, "MiB"),
        unit: "MiB",
        ours: slope
      })
    ]
  })
}
