/** What uploads and batches cost in memory, each in a process of its own (see `memory.ts`). */
import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import * as Service from "../service.ts"
import * as Uploads from "../uploads.ts"

/**
 * The memory of a process in MiB, and what its task reports besides. `rest` is the memory without V8's young generation.
 */
interface Memory {
  readonly idle: number
  readonly peak: number
  readonly restPeak: number
  readonly slope: number
  readonly restSlope: number
  readonly left: number
  readonly sha256: string
  readonly rate: number
}

/** Runs a task of `memory.ts` with a client: "fetch", "foreign", or the one that a program on Node uses by default. */
const memory = (work: string, args: ReadonlyArray<string | number>, client = "") =>
  Effect.scoped(
    Harness.child<Memory>(new URL("../memory.ts", import.meta.url), {
      args: [work, ...args.map(String)],
      execArgv: ["--expose-gc"],
      env: { BENCH_CLIENT: client }
    })
  )

const measured = { rounds: 3, warmups: 0 }
const size = 1024 * Uploads.mebi

/** BENCH_JOBS=100000 runs more jobs. */
const jobs = Number(process.env["BENCH_JOBS"] ?? 10_000)

/** Runs the jobs against a new emulator in another process. */
const batch = (count: number) =>
  Effect.scoped(Effect.flatMap(Service.separate, (origin) => memory("batch", [origin, "", count])))

const peak = ({ peak: found }: Memory) => found
const restPeak = (found: Memory) => found.restPeak
const aboveIdle = (found: Memory) => found.peak - found.idle

interface Report {
  readonly sha256: string
  readonly cuts: number
  readonly offset: number
  readonly length: number
}

export const rows: ReadonlyArray<Harness.Row> = [
  {
    id: "M1",
    work: "peak memory for 16 GiB against 1 GiB",
    run: Effect.gen(function* () {
      const origin = yield* Uploads.sink()
      const few = yield* Uploads.file(size)
      const many = yield* Uploads.file(16 * size)
      const { foreign, large, small } = yield* Harness.alternate(
        {
          large: memory("file", [origin, many]),
          foreign: memory("file", [origin, many], "foreign"),
          small: memory("file", [origin, few])
        },
        measured
      )
      const [target, peer] = [Harness.atMost(1.1), "a file of 1 GiB"]
      const rest = `${peer}, both without V8's young generation`
      return [
        Harness.ratio(peer, target, "MiB", large.map(peak), small.map(peak)),
        Harness.ratio(rest, target, "MiB", large.map(restPeak), small.map(restPeak)),
        Harness.ratio(Uploads.foreign(peer), Harness.unbound, "MiB", foreign.map(peak), small.map(peak))
      ]
    })
  },
  {
    id: "M2",
    work: "one-shot stream of 4 GiB, window 8 MiB",
    run: Effect.gen(function* () {
      const origin = yield* Uploads.sink()
      const { ours } = yield* Harness.alternate({ ours: memory("stream", [origin, "", 4 * size]) }, measured)
      return [Harness.absolute("idle", Harness.atMost(96, "MiB"), "MiB", ours.map(aboveIdle))]
    })
  },
  {
    id: "M3",
    work: "5,000 uploads one after another",
    run: Effect.gen(function* () {
      const origin = yield* Uploads.sink()
      const path = yield* Uploads.file(64 * 1024)
      const { ours } = yield* Harness.alternate({ ours: memory("sequence", [origin, path, 5000, 500]) }, measured)
      const figure = (peer: string, most: number, unit: string, of: (found: Memory) => number) =>
        Harness.absolute(peer, Harness.atMost(most, unit), unit, ours.map(of))
      return [
        figure("growth in 1,000 uploads", 1, "MiB", ({ slope }) => slope),
        figure("growth in 1,000 uploads, without V8's young generation", 1, "MiB", ({ restSlope }) => restSlope),
        figure("files and sockets left open", 0, "handles", ({ left }) => left)
      ]
    })
  },
  {
    id: "M4",
    work: "1,000 uploads of 5 MiB at once",
    run: Effect.gen(function* () {
      const origin = yield* Uploads.sink()
      const args = [origin, yield* Uploads.file(5 * Uploads.mebi), 1000]
      const { foreign, ours } = yield* Harness.alternate(
        { ours: memory("many", args), foreign: memory("many", args, "foreign") },
        measured
      )
      const target = Harness.atMost(512, "MiB")
      return [
        Harness.absolute("nothing", target, "MiB", ours.map(peak)),
        Harness.absolute(Uploads.foreign("nothing"), target, "MiB", foreign.map(peak))
      ]
    })
  },
  {
    id: "M5",
    work: "1 GiB with the fetch client",
    run: Effect.gen(function* () {
      const args = [yield* Uploads.sink(), yield* Uploads.file(size)]
      const { ours } = yield* Harness.alternate({ ours: memory("file", args, "fetch") }, measured)
      return [Harness.absolute("idle", Harness.atMost(128, "MiB"), "MiB", ours.map(aboveIdle))]
    })
  },
  {
    id: "M6",
    work: "a stream of 1 GiB into Upload.sink, the connection cut five times",
    run: Effect.gen(function* () {
      const origin = yield* Uploads.cutting(170 * Uploads.mebi)
      const sent = Effect.fnUntraced(function* (work: string) {
        const found = yield* memory(work, [origin, "", size])
        const stored = yield* Harness.attempt(async () => (await (await fetch(`${origin}/report`)).json()) as Report)
        if (stored.sha256 !== found.sha256 || stored.cuts !== 5 || stored.offset !== size || stored.length !== size)
          return yield* Effect.fail(new Harness.BenchError(`sent ${found.sha256}, stored ${JSON.stringify(stored)}`))
        return aboveIdle(found)
      })
      const alone = Effect.map(memory("pieces", [origin, "", size]), aboveIdle)
      const samples = yield* Harness.alternate(
        { views: sent("sink"), pieces: sent("sinkOfPieces"), unsent: alone },
        measured
      )
      const target = Harness.atMost(64, "MiB")
      const peer = "idle; each piece has new memory"
      return [
        Harness.absolute("idle; the pieces are views of one memory", target, "MiB", samples.views),
        Harness.absolute(peer, target, "MiB", samples.pieces),
        Harness.ratio(`${peer}, and nothing is sent`, Harness.unbound, "MiB", samples.pieces, samples.unsent)
      ]
    })
  },
  {
    id: "P13",
    work: `a batch of ${jobs.toLocaleString("en")} jobs with one file of 1 KiB each`,
    run: Effect.gen(function* () {
      const { many, few } = yield* Harness.alternate({ few: batch(1000), many: batch(jobs) }, measured)
      const [rate, slope] = [(found: Memory) => found.rate, (found: Memory) => found.slope]
      return [
        Harness.ratio("1,000 jobs: rate", Harness.atLeast(0.8), "jobs/s", many.map(rate), few.map(rate)),
        Harness.absolute("growth in 1,000 jobs", Harness.atMost(1, "MiB"), "MiB", many.map(slope))
      ]
    })
  }
]
