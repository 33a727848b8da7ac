/** What uploads cost in time, beside other clients. */
import * as Effect from "effect/Effect"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import * as Harness from "../harness.ts"
import * as Uploads from "../uploads.ts"

const size = 1024 * Uploads.mebi
const five = { rounds: 5 }

/** A row that uploads 1 GiB beside tus-js-client. */
const besideTus = (options: {
  readonly id: string
  readonly work: string
  readonly unit: string
  readonly measure: <E, R>(effect: Effect.Effect<unknown, E, R>) => Effect.Effect<number, E, R>
  readonly targets: readonly [ours: Harness.Target, foreign: Harness.Target]
  readonly chunkSize?: number
}): Harness.Row => ({
  id: options.id,
  work: options.work,
  run: Effect.gen(function* () {
    const chunks = options.chunkSize === undefined ? {} : { chunkSize: options.chunkSize }
    const origin = yield* Uploads.sink()
    const path = yield* Uploads.file(size)
    const { foreign, ours, tus } = yield* Harness.alternate(
      {
        ours: options.measure(Uploads.ours(origin, path, chunks)),
        foreign: options.measure(Uploads.withForeign(Uploads.ours(origin, path, chunks))),
        tus: options.measure(Uploads.theirs(origin, path, size, chunks))
      },
      five
    )
    const peer = "tus-js-client"
    return [
      Harness.ratio(peer, options.targets[0], options.unit, ours, tus),
      Harness.ratio(Uploads.foreign(peer), options.targets[1], options.unit, foreign, tus)
    ]
  }).pipe(Uploads.withNode)
})

const count = 2000
const small = new Uint8Array(16 * 1024)
const parts = 256 * Uploads.mebi

export const rows: ReadonlyArray<Harness.Row> = [
  besideTus({
    id: "P1",
    work: "upload 1 GiB in one PATCH to a sink",
    unit: "MB/s",
    measure: Harness.throughput(size),
    targets: [Harness.atLeast(2.5), Harness.atLeast(1.1)]
  }),
  {
    id: "P2",
    work: "upload 1 GiB in one PATCH to a sink",
    run: Effect.gen(function* () {
      const origin = yield* Uploads.sink()
      const path = yield* Uploads.file(size)
      const speed = Harness.throughput(size)
      const { foreign, ours, raw1024, raw256 } = yield* Harness.alternate(
        {
          ours: speed(Uploads.ours(origin, path)),
          foreign: speed(Uploads.withForeign(Uploads.ours(origin, path))),
          raw256: speed(Uploads.raw(origin, path, size, Uploads.mebi / 4)),
          raw1024: speed(Uploads.raw(origin, path, size, Uploads.mebi))
        },
        five
      )
      const better = raw256.map((sample, round) => Math.max(sample, raw1024[round]!))
      return [
        Harness.ratio("raw node:http (best of 256 KiB, 1 MiB)", Harness.atLeast(1.2), "MB/s", ours, better),
        Harness.ratio(Uploads.foreign("raw node:http"), Harness.unbound, "MB/s", foreign, better)
      ]
    }).pipe(Uploads.withNode)
  },
  besideTus({
    id: "P3",
    work: "upload 1 GiB in chunks of 8 MiB to a sink",
    unit: "MB/s",
    measure: Harness.throughput(size),
    targets: [Harness.atLeast(1.8), Harness.unbound],
    chunkSize: 8 * Uploads.mebi
  }),
  besideTus({
    id: "P4",
    work: "processor time of an upload of 1 GiB",
    unit: "s/GB",
    measure: (effect) => Effect.map(Uploads.cpuSeconds(effect), (seconds) => seconds / (size / 1e9)),
    targets: [Harness.atMost(1), Harness.unbound]
  }),
  {
    id: "P5",
    work: "256 MiB over 50 ms and 20 MB/s a connection, parallel 4",
    run: Effect.gen(function* () {
      const origin = yield* Uploads.sink({ SINK_RTT: "50", SINK_RATE: "20000000" })
      const path = yield* Uploads.file(parts)
      const sides = yield* Harness.workers("upload-parts", ["ours", "foreign", "single", "tus"], [origin, path, parts])
      const samples = yield* Harness.alternate(sides, five)
      const speed = (side: keyof typeof samples) => samples[side].map(({ seconds }) => parts / 1e6 / seconds)
      return [
        Harness.ratio("tus-js-client", Harness.atLeast(1), "MB/s", speed("ours"), speed("tus")),
        Harness.ratio(Uploads.foreign("tus-js-client"), Harness.unbound, "MB/s", speed("foreign"), speed("tus")),
        Harness.ratio("our own single connection", Harness.atLeast(3.5), "MB/s", speed("ours"), speed("single"))
      ]
    })
  },
  {
    id: "P6",
    work: "2,000 files of 16 KiB, 16 at once",
    run: Effect.gen(function* () {
      const origin = yield* Uploads.sink()
      const folder = yield* Harness.folder
      yield* Harness.attempt(async () => {
        for (let index = 0; index < count; index++) await writeFile(join(folder, String(index)), small)
      })
      const sides = yield* Harness.workers("small-files", ["ours", "tus", "raw"], [origin, small.length, folder])
      const samples = yield* Harness.alternate(sides, { rounds: 9 })
      const speed = (side: keyof typeof samples) => samples[side].map(({ seconds }) => count / seconds)
      const cpu = (side: keyof typeof samples) => samples[side].map((cost) => (cost.cpu / count) * 1e6)
      const beside = (peer: string, side: keyof typeof samples, least: number) => [
        Harness.ratio(peer, Harness.atLeast(least), "files/s", speed("ours"), speed(side)),
        Harness.ratio(`${peer}: processor time`, Harness.unbound, "µs/file", cpu("ours"), cpu(side))
      ]
      return [
        ...beside("tus-js-client with the data in the creation", "tus", 1.4),
        ...beside("the same calls by hand (node:fs, undici)", "raw", 0.75)
      ]
    })
  }
]
