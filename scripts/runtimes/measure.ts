/**
 * Measures an upload from a File in Chromium: the peak growth of the memory of all processes, and the longest time
 * without progress on a slow link.
 */
import * as Effect from "effect/Effect"
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as Front from "./front.ts"
import * as Launch from "./launch.ts"
import * as Remote from "./remote.ts"
import * as Rows from "./rows.ts"

const mebi = 1024 * 1024

/** The ids of the processes in a process group. All processes of one browser are in one group. */
const groupOf = (group: number): ReadonlyArray<string> =>
  readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name)) return false
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8")
      return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2]) === group
    } catch {
      return false
    }
  })

/** The memory of the processes in bytes, without mapped files. Memory that two processes share is counted twice. */
const memoryOf = (group: number): number =>
  groupOf(group).reduce((sum, name) => {
    try {
      const found = readFileSync(`/proc/${name}/status`, "utf8").matchAll(/^Rss(?:Anon|Shmem):\s+(\d+) kB/gm)
      return Array.from(found, ([, kibi]) => Number(kibi) * 1024).reduce((all, one) => all + one, sum)
    } catch {
      return sum
    }
  }, 0)

interface Measured {
  readonly bytes: number
  readonly first: number
  readonly longest: number
  readonly problem?: string
  readonly before: number
  readonly above: number
}

/** Measures an upload of `size` bytes over a link with a limited rate. Undefined if there is no Chromium. */
const measure = (size: number, bytesPerSecond: number): Promise<Measured | undefined> =>
  Effect.gen(function* () {
    const found = yield* Effect.promise(() => Rows.findBrowser("Chromium"))
    if (found === undefined) return undefined
    const page = yield* Effect.promise(() => Launch.bundle("file"))
    const front = yield* Front.make({ protocol: "HTTP/1.1", isDirect: false, page, blocks: 0, sha256: "" })
    const folder = mkdtempSync(join(tmpdir(), "runtimes-file-"))
    const path = join(folder, "large.bin")
    writeFileSync(path, "")
    truncateSync(path, size)
    front.limit(bytesPerSecond)
    const use = async (endpoint: string, pid: number) => {
      const send = await Remote.openInChromium(endpoint, front.pageUrl)
      const evaluate = async (expression: string) => (await send("Runtime.evaluate", { expression })).result
      const isReady = async () => JSON.stringify(await evaluate("document.title")).includes("ready")
      while (!(await isReady())) await sleep(100)
      const { root } = (await send("DOM.getDocument", {})) as { readonly root: { readonly nodeId: number } }
      const { nodeId } = await send("DOM.querySelector", { nodeId: root.nodeId, selector: "input" })
      await send("HeapProfiler.collectGarbage", {})
      await sleep(2000)
      const before = memoryOf(pid)
      let peak = before
      const timer = setInterval(() => {
        peak = Math.max(peak, memoryOf(pid))
      }, 250)
      const reported = front.nextReport()
      await send("DOM.setFileInputFiles", { nodeId, files: [path] })
      const report = (await reported.finally(() => clearInterval(timer))) as Omit<Measured, "above" | "before">
      return { ...report, before, above: peak - before }
    }
    return yield* Effect.promise(() =>
      Launch.browser(found.command, Rows.chromiumArgs, use).finally(() => rmSync(folder, { recursive: true }))
    )
  }).pipe(Effect.scoped, Effect.runPromise)

const inMebi = (bytes: number) => `${Math.round(bytes / mebi)} MiB`
const seconds = (millis: number) => `${(millis / 1000).toFixed(2)} s`

/**
 * A measured value with its limit. `holds`: whether the value is within the limit; undefined if nothing was measured.
 */
export interface Measure {
  readonly what: string
  readonly value: string
  readonly limit: string
  readonly holds: boolean | undefined
}

const notRun = { value: "not run", holds: undefined }

const failed = ({ bytes, problem }: Measured, size: number) =>
  bytes === size ? undefined : { value: problem ?? "not all bytes arrived", holds: false }

/** Measures the memory that an upload of 1 GiB needs. */
const memory = async (): Promise<Measure> => {
  const size = 1024 * mebi
  const what = "peak memory of Chromium for 1 GiB from a File, above the page before it"
  const found = await measure(size, Infinity)
  const result =
    found &&
    (failed(found, size) ?? {
      value: `${inMebi(found.above)} (before it: ${inMebi(found.before)})`,
      holds: found.above <= 100 * mebi
    })
  return { what, limit: "100 MiB", ...(result ?? notRun) }
}

/** Measures the longest time without progress on a link of `rate` bytes per second. */
const progress = async (rate: number): Promise<Measure> => {
  const size = rate * 15
  const what = `longest time without progress in Chromium at ${rate / 1000} kB/s, after the first slice`
  const found = await measure(size, rate)
  const result =
    found &&
    (failed(found, size) ?? {
      value: `${seconds(found.longest)} (first slice ${seconds(found.first)})`,
      holds: found.longest <= 1000
    })
  return { what, limit: "1 s", ...(result ?? notRun) }
}

/** Makes all measurements, one after another. */
export const all = async (): Promise<ReadonlyArray<Measure>> => [
  await memory(),
  await progress(100_000),
  await progress(300_000),
  await progress(1_000_000)
]
