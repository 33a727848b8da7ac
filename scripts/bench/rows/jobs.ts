/** What a small job costs, from the creation of its Assembly to its end, with the service in another process. */
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Growth from "../growth.ts"
import * as Harness from "../harness.ts"
import * as Uploads from "../uploads.ts"

/** Makes the measurements of sides that run `count` jobs, 16 at once, each side in its own process. */
const sidesOf = <const Name extends string>(
  names: ReadonlyArray<Name>,
  count: number,
  env: Readonly<Record<string, string>> = {}
) =>
  Effect.gen(function* () {
    const { port } = yield* Harness.child(new URL("../servers/jobs.ts", import.meta.url), { env })
    const path = yield* Uploads.file(16 * 1024)
    return yield* Harness.workers("jobs", names, [`http://127.0.0.1:${port}`, path, count, 16])
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
      const official = "@transloadit/node"
      return [
        Harness.ratio("the same form by hand (undici)", Harness.atLeast(0.6), "jobs/s", rate("form"), rate("raw")),
        Harness.ratio("by hand: processor time of a job", Harness.unbound, "µs", cpu("form"), cpu("raw")),
        Harness.ratio(`${official}: processor time of a job`, Harness.atMost(0.5), "µs", cpu("form"), cpu("official")),
        Harness.ratio(official, Harness.unbound, "jobs/s", rate("form"), rate("official")),
        Harness.ratio("tus-js-client, creation by hand", Harness.unbound, "jobs/s", rate("form"), rate("tusJs")),
        Harness.ratio("our own transport: tus", Harness.unbound, "jobs/s", rate("form"), rate("tus"))
      ]
    })
  },
  Growth.row({
    id: "P16-link",
    work: "jobs with one file of 16 KiB over 50 ms, 16 at once",
    axes: { x: "jobs", y: "time for all (ms)" },
    sizes: [20, 200, 2000],
    rounds: 1,
    begin: Effect.succeed((count) =>
      Effect.map(
        sidesOf(["form", "tus", "tusJs", "official"], count, { SINK_RTT: "50", SINK_RATE: "20000000" }),
        ({ form, official, tus, tusJs }) =>
          Record.map(
            {
              "transport: form": form,
              "transport: tus": tus,
              "tus-js-client, data in the creation": tusJs,
              "@transloadit/node": official
            },
            Effect.map(({ seconds }) => seconds * 1000)
          )
      )
    )
  })
]
