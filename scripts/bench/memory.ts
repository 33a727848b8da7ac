/**
 * Runs one task in a separate process with fresh memory. Reports the resident memory before the task and its peak, in
 * MiB.
 */
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as UndiciClient from "@assembly-effect/node/UndiciClient"
import * as Upload from "@assembly-effect/tus/Upload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { createHash, randomBytes, type Hash } from "node:crypto"
import { readdirSync } from "node:fs"
import { getHeapSpaceStatistics } from "node:v8"
import * as Service from "./service.ts"
import * as Uploads from "./uploads.ts"

const [work = "", origin = "", path = "", ...numbers] = process.argv.slice(2)
const [first = 0, second = 0] = numbers.map(Number)

const rss = () => process.memoryUsage().rss / Uploads.mebi

/**
 * The resident memory without V8's young generation. V8 makes the young generation larger in a few large steps, when
 * enough objects have survived collections, and never beyond a fixed size.
 */
const rest = () =>
  getHeapSpaceStatistics().reduce(
    (left, { physical_space_size: size, space_name: name }) =>
      name.startsWith("new_") ? left - size / Uploads.mebi : left,
    rss()
  )

const upload = Uploads.oursOf(origin, UploadSource.fromBytes(new Uint8Array(Uploads.mebi)))

const pieceSize = 256 * 1024

/** A stream of `first` bytes, in pieces made by `make` from their offsets. */
const streamOf = (hash: Hash, make: (at: number) => Uint8Array) =>
  Stream.unfold(0, (at) =>
    Effect.sync(() => {
      if (at >= first) return undefined
      const piece = make(at)
      hash.update(piece)
      return [piece, at + piece.length] as const
    })
  )

/** A stream in which each piece has its own memory and differs from every other piece. */
const pieces = (hash: Hash) =>
  streamOf(hash, (at) => {
    const piece = new Uint8Array(pieceSize).fill((at / pieceSize) % 251)
    new DataView(piece.buffer).setFloat64(0, at)
    return piece
  })

/** A stream whose pieces are views of the same memory at different offsets, so the stream leaves no garbage. */
const views = (hash: Hash) => {
  const memory = randomBytes(Uploads.mebi)
  return streamOf(hash, (at) => {
    const start = (at / pieceSize) * 191
    return memory.subarray(start % (memory.length - pieceSize)).subarray(0, pieceSize)
  })
}

/** Uploads a stream with `Upload.sink`. */
const sink = (stream: (hash: Hash) => Stream.Stream<Uint8Array>) =>
  Effect.gen(function* () {
    const hash = createHash("sha256")
    const target = yield* Uploads.target(origin)
    yield* Stream.run(stream(hash), Upload.sink(target, { metadata: Uploads.metadata }))
    return { sha256: hash.digest("hex") }
  })

/** The number of open files and sockets of this process. */
const handles = () => readdirSync("/proc/self/fd").length

/**
 * Samples the memory after every `step` steps. A slope is its growth in 1,000 steps, from the mean of the first half of
 * the samples to the mean of the second half.
 */
const sampler = (step: number) => {
  const at: Array<number> = []
  const restAt: Array<number> = []
  const mean = (values: ReadonlyArray<number>) => values.reduce((a, b) => a + b, 0) / values.length
  const slopeOf = (samples: ReadonlyArray<number>) => {
    const half = samples.length >> 1
    return half < 2 ? 0 : ((mean(samples.slice(half)) - mean(samples.slice(0, half))) / (half * step)) * 1000
  }
  return {
    after: (steps: number, from: number) => {
      if (steps < from || steps % step > 0) return
      globalThis.gc?.()
      at.push(rss())
      restAt.push(rest())
    },
    slopes: () => ({ slope: slopeOf(at), restSlope: slopeOf(restAt) })
  }
}

/** Runs `count` jobs of one small file each. Returns the jobs in each second, and the growth of the memory. */
const batch = (count: number) =>
  Effect.gen(function* () {
    const start = performance.now()
    const jobs = Stream.range(1, count).pipe(
      Stream.map((row) => ({
        params: { steps: { ":original": { robot: "/upload/handle" } } },
        files: [{ source: UploadSource.fromBytes(new Uint8Array(1024)), filename: `${row}.bin` }]
      }))
    )
    const { after, slopes } = sampler(500)
    let done = 0
    yield* Stream.runForEach(AssemblyUpload.runAll(jobs), (outcome) =>
      outcome._tag === "Failed" ? Effect.fail(outcome.error) : Effect.sync(() => after(++done, 1000))
    )
    return { rate: (count / (performance.now() - start)) * 1000, ...slopes() }
  }).pipe(Effect.provide(Service.layerClient(origin)))

const works: Readonly<
  Record<string, Effect.Effect<Readonly<Record<string, number | string>>, unknown, Layer.Success<typeof Uploads.node>>>
> = {
  file: Effect.as(Uploads.ours(origin, path), {}),
  stream: Effect.suspend(() => {
    const zeros = Stream.unfold(0, (at) =>
      Effect.sync(() => (at >= first ? undefined : ([new Uint8Array(pieceSize), at + pieceSize] as const)))
    )
    return Effect.as(Uploads.oursOf(origin, UploadSource.fromStream(zeros), { chunkSize: 8 * Uploads.mebi }), {})
  }),
  sink: sink(views),
  sinkOfPieces: sink(pieces),
  // The pieces of `sinkOfPieces`, which are not sent.
  pieces: Effect.suspend(() => {
    const hash = createHash("sha256")
    const turn = Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
    return Effect.map(
      Stream.runForEach(pieces(hash), () => turn),
      () => ({ sha256: hash.digest("hex") })
    )
  }),
  many: Effect.as(
    Effect.forEach(Array.from({ length: work === "many" ? first : 0 }), () => Uploads.ours(origin, path), {
      concurrency: "unbounded",
      discard: true
    }),
    {}
  ),
  batch: batch(first),
  sequence: Effect.gen(function* () {
    const open = handles()
    const { after, slopes } = sampler(250)
    for (let index = 0; index < first; index++) {
      yield* Uploads.ours(origin, path)
      after(index, second)
    }
    return { ...slopes(), left: Math.max(0, handles() - open - 1) }
  })
}

const clients: Readonly<Record<string, Layer.Layer<HttpClient.HttpClient>>> = {
  fetch: NodeHttpClient.layerFetch,
  foreign: Layer.provide(Uploads.layerForeign, Layer.orDie(UndiciClient.layer))
}
const chosen = clients[process.env["BENCH_CLIENT"] ?? ""]
const services =
  chosen === undefined ? Uploads.node : Layer.provideMerge(Upload.layer, Layer.provideMerge(chosen, Uploads.node))

const program = Effect.gen(function* () {
  yield* work === "batch" ? batch(200) : upload
  globalThis.gc?.()
  const idle = rss()
  let peak = idle
  let restPeak = rest()
  const sample = () => {
    peak = Math.max(peak, rss())
    restPeak = Math.max(restPeak, rest())
  }
  const timer = setInterval(sample, 20)
  const more = yield* works[work] ?? Effect.die(new Error(`no such work: ${work}`))
  clearInterval(timer)
  sample()
  return { idle, peak, restPeak, ...more }
}).pipe(Effect.provide(services))

process.send?.(await Effect.runPromise(program), () => process.exit(0))
