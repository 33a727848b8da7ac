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

const calls = 400

/**
 * P7 in one of its forms: after 1,200 calls, as in a short process, or after 8,000 calls; one call at a time, or several
 * at once.
 */
const lists = (form: "short" | "warm", concurrency: number, ours: number): Harness.Row => ({
  id: `P7-${form}-${concurrency}`,
  work: `signed list of 50 entries, ${concurrency} at once, ${form === "warm" ? "after 8,000 calls" : "short process"}`,
  run: Effect.gen(function* () {
    const { port } = yield* Harness.child(new URL("../servers/list.ts", import.meta.url))
    const args = [calls, concurrency, `http://127.0.0.1:${port}`]
    const sides = yield* Harness.workers("list", ["node", "fetch", "official", "raw"], args)
    const samples = yield* Harness.alternate(sides, { rounds: 9, warmups: form === "warm" ? 20 : 3 })
    const rate = (side: keyof typeof samples) => samples[side].map(({ seconds }) => calls / seconds)
    const beside = (peer: string, least: number, client: "fetch" | "node", other: "official" | "raw") =>
      Harness.ratio(peer, Harness.atLeast(least), "req/s", rate(client), rate(other))
    return [
      beside("@transloadit/node (ours: AssemblyNode)", ours, "node", "official"),
      beside("undici + JSON.parse (ours: AssemblyNode)", 0.7, "node", "raw"),
      beside("@transloadit/node (ours: fetch, WebCrypto)", 1.15, "fetch", "official")
    ]
  })
})

const hours = 91 * 24
const repeats = 20

/** Speeds and durations are fractions, everything else is an integer. */
const bucket = (index: number) =>
  Object.fromEntries(
    Object.keys(AssemblyStatistics.StatsBucket.fields).map((key, place) => [
      key,
      /speed|duration/.test(key) ? place + (index % 13) / 7 : key === "data_from_ts" ? index * 3600 : index * 1_000_003
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
  // The totals are large numbers.
  ...Object.fromEntries(
    Object.keys(AssemblyStatistics.Statistics.fields)
      .filter((key) => key.startsWith("total"))
      .map((key, place) => [key, /Duration/.test(key) ? 1234.75 * (place + 1) : 10 ** (place + 4)])
  )
})

const decode = SchemaParser.decodeUnknownEffect(AssemblyStatistics.Statistics, { errors: "all" })

const repeated = <E>(once: Effect.Effect<unknown, E>) => Harness.seconds(Effect.repeat(once, { times: repeats - 1 }))

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

/** How many kB bundles have more than the same program with Effect alone. */
const bundles = (id: string, work: string, plain: string, most: number, ours: Readonly<Record<string, string>>) => ({
  id,
  work: `${work}, minified and gzipped`,
  run: Harness.attempt(async () => {
    const [theirs = Number.NaN, ...sizes] = await bundleSizes([plain, ...Object.values(ours)])
    return Object.keys(ours).map((peer, index): Harness.Figure => {
      const size = sizes[index] ?? Number.NaN
      const samples = { ours: [size], theirs: [theirs] }
      return { peer, target: Harness.atMost(most, "kB more"), unit: "kB", value: size - theirs, samples }
    })
  })
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
      const parse = Effect.sync((): unknown => JSON.parse(body))
      const { alone, ours } = yield* Harness.alternate(
        { ours: repeated(Effect.flatMap(parse, decode)), alone: repeated(parse) },
        { rounds: 15, warmups: 3 }
      ).pipe(Effect.mapError((issue) => new Harness.BenchError(String(issue))))
      return [Harness.ratio("JSON.parse alone", Harness.atMost(2.5), "s", ours, alone)]
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
  bundles("P10", "edge bundle of one signed operation", "edge-plain", 20.5, {
    "the same call with Effect alone": "edge-ours"
  }),
  bundles("P11", "page bundle of an upload of a File with progress and resume", "upload-plain", 28, {
    "the same upload with Effect alone, our deep imports": "upload-deep",
    "the same upload with Effect alone, our index imports": "upload-index"
  })
]
