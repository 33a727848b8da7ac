/** What a small job costs, from the creation of its Assembly to its end, with the service in another process. */
import * as Effect from "effect/Effect"
import { truncate, writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Growth from "../growth.ts"
import * as Harness from "../harness.ts"

const small = 16 * 1024

interface Cost {
  readonly seconds: number
  readonly cpu: number
}

/** Makes the measurements of sides that run `count` jobs, 16 at once, each side in its own process. */
const sidesOf = <const Name extends string>(
  names: ReadonlyArray<Name>,
  count: number,
  env: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    const { port } = yield* Harness.child(new URL("../servers/jobs.ts", import.meta.url), { env })
    const path = join(yield* Harness.folder, "file")
    yield* Harness.attempt(async () => {
      await writeFile(path, "")
      await truncate(path, small)
    })
    const program = new URL("../programs/jobs.ts", import.meta.url)
    const workers = yield* Effect.forEach(names, (name) =>
      Effect.map(
        Harness.worker<Cost>(program, [name, `http://127.0.0.1:${port}`, path, `${count}`, "16"]),
        (run) => [name, run] as const
      )
    )
    return Object.fromEntries(workers) as Record<Name, Effect.Effect<Cost, Harness.BenchError>>
  })

const jobs = 400

export const rows: ReadonlyArray<Harness.Row> = [
  {
    id: "P16",
    work: "a job with one file of 16 KiB, from its creation to its end, 16 at once",
    run: Effect.gen(function* () {
      const sides = yield* sidesOf(["form", "tus", "official", "raw", "tusJs"], jobs)
      const samples = yield* Harness.alternate(sides, { rounds: 7, warmups: 3 })
      const rate = (side: keyof typeof samples) => samples[side].map(({ seconds }) => jobs / seconds)
      const cpu = (side: keyof typeof samples) => samples[side].map((cost) => (cost.cpu / jobs) * 1e6)
      return [
        Harness.ratio("the same form by hand (undici)", Harness.atLeast(0.6), "jobs/s", rate("form"), rate("raw")),
        Harness.ratio("by hand: processor time of a job", Harness.unbound, "µs", cpu("form"), cpu("raw")),
        Harness.ratio(
          "@transloadit/node: processor time of a job",
          Harness.atMost(0.5),
          "µs",
          cpu("form"),
          cpu("official")
        ),
        Harness.ratio("@transloadit/node", Harness.unbound, "jobs/s", rate("form"), rate("official")),
        Harness.ratio("tus-js-client, creation by hand", Harness.unbound, "jobs/s", rate("form"), rate("tusJs")),
        Harness.ratio("our own transport: tus", Harness.unbound, "jobs/s", rate("form"), rate("tus"))
      ]
    })
  },
  {
    id: "P16-link",
    work: "jobs with one file of 16 KiB over 50 ms, 16 at once",
    axes: { x: "jobs", y: "time for all (ms)" },
    run: Growth.measure({
      sizes: [20, 200, 2000],
      rounds: 1,
      prepare: (count) =>
        Effect.map(
          sidesOf(["form", "tus", "tusJs", "official"], count, { SINK_RTT: "50", SINK_RATE: "20000000" }),
          ({ form, official, tus, tusJs }) => {
            const millis = Effect.map(({ seconds }: Cost) => seconds * 1000)
            return {
              "transport: form": millis(form),
              "transport: tus": millis(tus),
              "tus-js-client, data in the creation": millis(tusJs),
              "@transloadit/node": millis(official)
            }
          }
        )
    })
  }
]
