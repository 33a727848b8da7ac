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
const small = 16 * 1024
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
      const peer = "raw node:http, the better of 256 KiB and 1 MiB"
      return [
        Harness.ratio(peer, Harness.atLeast(1.2), "MB/s", ours, better),
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
      const module = new URL("../programs/upload-parts.ts", import.meta.url)
      const sides = yield* Harness.workers(module, ["ours", "foreign", "single", "tus"], [origin, path, parts])
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
      const paths = Array.from({ length: count }, (_, index) => join(folder, String(index)))
      yield* Harness.attempt(async () => {
        for (const path of paths) await writeFile(path, new Uint8Array(small))
      })
      const target = yield* Uploads.target(origin)
      const all = <E, R>(one: (path: string) => Effect.Effect<unknown, E, R>) =>
        Effect.map(
          Harness.seconds(Effect.forEach(paths, one, { concurrency: 16, discard: true })),
          (seconds) => count / seconds
        )
      const { during, ours, raw, tus } = yield* Harness.alternate(
        {
          ours: all((path) => Uploads.oursTo(target, path)),
          tus: all((path) => Uploads.theirs(origin, path, small)),
          during: all((path) => Uploads.theirs(origin, path, small, { isDuringCreation: true })),
          raw: all((path) => Uploads.rawSmall(origin, path, small))
        },
        five
      )
      return [
        Harness.ratio("tus-js-client with the data in the creation", Harness.atLeast(1.4), "files/s", ours, during),
        Harness.ratio("tus-js-client", Harness.unbound, "files/s", ours, tus),
        Harness.ratio("the same calls by hand (node:fs, undici)", Harness.atLeast(0.75), "files/s", ours, raw)
      ]
    }).pipe(Uploads.withNode)
  }
]
