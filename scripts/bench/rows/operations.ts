/** What operations cost beside other clients: requests, decoding, loading and the size of bundles. */
import * as AssemblyStatistics from "@assembly-effect/schema/AssemblyStatistics"
import * as Effect from "effect/Effect"
import * as SchemaParser from "effect/SchemaParser"
import { execFile } from "node:child_process"
import { mkdir, realpath, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { bundleSizes } from "../bundle.ts"
import * as Harness from "../harness.ts"
import { packages, publish } from "../published.ts"

/**
 * P7 in one of its forms: after 1,200 calls, as in a short process, or after 8,000 calls; one call at a time, or several
 * at once.
 */
const lists = (form: "short" | "warm", concurrency: number, ours: number): Harness.Row => ({
  id: "P7",
  work: `signed list of 50 entries, ${concurrency} at once, ${form === "warm" ? "after 8,000 calls" : "short process"}`,
  run: Effect.gen(function* () {
    const { port } = yield* Harness.child(new URL("../servers/list.ts", import.meta.url))
    const side = (name: string) =>
      Harness.worker(new URL("../programs/list.ts", import.meta.url), [
        name,
        `${concurrency}`,
        `http://127.0.0.1:${port}`
      ])
    const sides = {
      node: yield* side("node"),
      fetch: yield* side("fetch"),
      official: yield* side("official"),
      raw: yield* side("raw")
    }
    const samples = yield* Harness.alternate(sides, { rounds: 9, warmups: form === "warm" ? 20 : 3 })
    const beside = (client: "fetch" | "node", layer: string, peer: "official" | "raw", least: number) =>
      Harness.ratio(
        `${peer === "raw" ? "undici + JSON.parse" : "@transloadit/node"} (ours: ${layer})`,
        Harness.atLeast(least),
        "req/s",
        samples[client],
        samples[peer]
      )
    return [
      beside("node", "AssemblyNode", "official", ours),
      beside("node", "AssemblyNode", "raw", 0.7),
      beside("fetch", "fetch, WebCrypto", "official", 1.15)
    ]
  })
})

const hours = 91 * 24
const repeats = 20

/** Counts are integers, and averages and durations are fractions. */
const bucket = (index: number) =>
  Object.fromEntries(
    Object.keys(AssemblyStatistics.StatsBucket.fields).map((key, place) => [
      key,
      /avg|duration/.test(key) ? place + (index % 13) / 7 : key === "data_from_ts" ? index * 3600 : index * 1_000_003
    ])
  )

const body = JSON.stringify({
  ok: "ASSEMBLY_STATS_FOUND",
  granularity: 3600,
  stats: Array.from({ length: hours }, (_, index) => bucket(index)),
  errorStatsGranularity: 86_400,
  errorStats: Array.from({ length: 91 }, (_, index) => ({
    data_from_ts: 1_767_225_600 + index * 86_400,
    error: "INPUT_FILE_UNREADABLE",
    num_erroneous_assemblies: index
  })),
  errorStatsTotals: [{ error: "INPUT_FILE_UNREADABLE", num_erroneous_assemblies: 4095 }],
  totalAssemblies: 100_000,
  totalBytesProcessed: 1_000_000_000_000,
  totalBytesUploaded: 500_000_000_000,
  totalExecutionDuration: 123_456.75,
  totalFilesProcessed: 200_000,
  totalLiveQueueDuration: 1234.5,
  totalOutputBytesProcessed: 400_000_000_000,
  totalOutputFilesProcessed: 300_000,
  totalUploadDuration: 5432.25,
  totalUsage: 2_000_000_000_000
})

const decode = SchemaParser.decodeUnknownEffect(AssemblyStatistics.Statistics, { errors: "all" })

const decodeAll = Harness.seconds(
  Effect.repeat(
    Effect.suspend(() => decode(JSON.parse(body))),
    { times: repeats - 1 }
  )
).pipe(Effect.mapError((issue) => new Harness.BenchError(String(issue))))

const parseAll = Harness.seconds(
  Effect.sync(() => {
    for (let index = 0; index < repeats; index++) JSON.parse(body)
  })
)

const run = promisify(execFile)

/** Adds the other client, and for each side a program that measures its import time. */
const install = async () => {
  const folder = await publish()
  const other = "node_modules/@transloadit/node"
  await mkdir(join(folder, dirname(other)))
  await symlink(await realpath(fileURLToPath(new URL(`../${other}`, import.meta.url))), join(folder, other))
  const program = (imports: ReadonlyArray<string>) =>
    [
      "const start = performance.now()",
      `await Promise.all([${imports.map((name) => `import("${name}")`).join(", ")}])`,
      "console.log(performance.now() - start)",
      "process.exit(0)"
    ].join("\n")
  await writeFile(join(folder, "ours.mjs"), program(packages.map((name) => `@assembly-effect/${name}`)))
  await writeFile(join(folder, "official.mjs"), program(["@transloadit/node"]))
  return folder
}

/** The import time of a new process in milliseconds, without the start of Node itself. */
const importTime = (folder: string, program: string) =>
  Harness.attempt(async () => Number((await run(process.execPath, [join(folder, program)])).stdout))

/** How many kB a bundle has more than the same program with Effect alone. */
const more = (peer: string, most: number, ours: number, theirs: number): Harness.Figure => ({
  peer,
  target: Harness.atMost(most, "kB more"),
  unit: "kB",
  value: ours - theirs,
  samples: { ours: [ours], theirs: [theirs] }
})

export const rows: ReadonlyArray<Harness.Row> = [
  lists("short", 1, 2.5),
  lists("short", 16, 3.5),
  lists("warm", 1, 2.5),
  lists("warm", 16, 3.5),
  {
    id: "P8",
    work: `decode statistics of ${hours} buckets, ${repeats} times`,
    run: Effect.gen(function* () {
      const { ours, parse } = yield* Harness.alternate<"ours" | "parse", number, Harness.BenchError, never>(
        { ours: decodeAll, parse: parseAll },
        { rounds: 15, warmups: 3 }
      )
      return [Harness.ratio("JSON.parse alone", Harness.atMost(2.5), "s", ours, parse)]
    })
  },
  {
    id: "P9",
    work: "import of schema, auth, api and tus, built, in a new process",
    run: Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(Harness.attempt(install), (path) =>
        Effect.promise(() => rm(path, { recursive: true }))
      )
      const { official: theirs, ours } = yield* Harness.alternate(
        { ours: importTime(folder, "ours.mjs"), official: importTime(folder, "official.mjs") },
        { rounds: 15, warmups: 3 }
      )
      return [Harness.ratio("@transloadit/node", Harness.atMost(0.55), "ms", ours, theirs)]
    })
  },
  {
    id: "P10",
    work: "edge bundle of one signed operation, minified and gzipped",
    run: Effect.gen(function* () {
      const [ours, plain] = yield* Harness.attempt(() => bundleSizes(["edge-ours", "edge-plain"]))
      return [more("the same call with Effect alone", 12, ours, plain)]
    })
  },
  {
    id: "P11",
    work: "page bundle of an upload of a File with progress and resume, minified and gzipped",
    run: Effect.gen(function* () {
      const programs = ["upload-deep", "upload-index", "upload-plain"] as const
      const [deep, index, plain] = yield* Harness.attempt(() => bundleSizes(programs))
      const peer = "the same upload with Effect alone, our"
      return [more(`${peer} deep imports`, 20, deep, plain), more(`${peer} index imports`, 20, index, plain)]
    })
  }
]
