/**
 * The rules of packing: which jobs share an Assembly, what follows a failure, and how large the next pack is. The driver
 * of these tests has an event queue of its own, as a simulation has.
 */
import * as PackedStatus from "../src/internal/packedStatus.ts"
import * as Packing from "../src/internal/packing.ts"
import { Assembly } from "@assembly-effect/schema"
import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Schema } from "effect"

interface Job extends Packing.Item {
  readonly id: number
  readonly isPoison: boolean
}

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** Runs one pack after another, and returns how many Assemblies ran, and how each job ended. */
const resolve = (first: ReadonlyArray<Packing.Pack<Job>>) => {
  const ended = new Map<Job, boolean>()
  const queue = [...first]
  let assemblies = 0
  for (let pack = queue.pop(); pack !== undefined; pack = queue.pop()) {
    assemblies++
    const hasFailed = pack.jobs.some(({ isPoison }) => isPoison)
    if (!hasFailed || pack.jobs.length === 1) {
      for (const job of pack.jobs) {
        assert.isFalse(ended.has(job), "a job has two outcomes")
        ended.set(job, !hasFailed)
      }
    }
    queue.push(...(hasFailed ? Packing.failed(pack) : Packing.completed(pack)))
  }
  return { assemblies, ended }
}

const jobsOf = (count: number, isPoison: (id: number) => boolean): Arr.NonEmptyReadonlyArray<Job> =>
  Arr.makeBy(count, (id) => ({ id, isPoison: isPoison(id), files: 1, bytes: 1, at: 0 }))

describe("packing", () => {
  it.prop(
    "every job waits at most `within`, and is in one final pack within the maxima, and only poison fails",
    {
      arrivals: Schema.Array(
        Schema.Struct({ pause: between(0, 30), files: between(1, 4), bytes: between(0, 12), poison: between(0, 9) })
      ).check(Schema.isMaxLength(60)),
      limits: Schema.Struct({ files: between(1, 12), bytes: between(1, 40), within: between(0, 100) })
    },
    ({ arrivals, limits }) => {
      let now = 0
      const jobs = arrivals.map(({ pause, poison, ...rest }, id): Job => {
        now += pause
        return { ...rest, id, at: now, isPoison: poison === 0 }
      })
      const ended = new Map<Job, boolean>()
      let waiting: ReadonlyArray<Job> = []
      let seen = Packing.unseen
      const takeAll = (time: number) => {
        const [taken, rest] = Arr.splitAt(waiting, Packing.ready(waiting, limits, seen, time))
        waiting = rest
        if (!Arr.isReadonlyArrayNonEmpty(taken)) return
        const sum = (field: "files" | "bytes") => taken.reduce((all, job) => all + job[field], 0)
        assert.isTrue(taken.every((job) => time <= Packing.dueAt(job, limits)))
        if (taken.length > 1) {
          assert.isAtMost(sum("files"), Packing.size(seen, limits))
          assert.isAtMost(sum("bytes"), limits.bytes)
        }
        const pack = Packing.make(taken)
        const resolved = resolve([pack])
        for (const [job, isGood] of resolved.ended) ended.set(job, isGood)
        assert.strictEqual(resolved.ended.size, taken.length)
        assert.isBelow(resolved.assemblies, 2 * taken.length)
        const hasFailed = taken.some(({ isPoison }) => isPoison)
        seen = Packing.remember(seen, pack, sum("files"), hasFailed)
        takeAll(time)
      }
      /** What is due before a time. */
      const runUntil = (time: number) => {
        for (let next = waiting[0]; next !== undefined && Packing.dueAt(next, limits) <= time; next = waiting[0]) {
          takeAll(Packing.dueAt(next, limits))
        }
      }
      for (const job of jobs) {
        runUntil(job.at)
        waiting = [...waiting, job]
        takeAll(job.at)
      }
      runUntil(Infinity)
      assert.strictEqual(ended.size, jobs.length)
      for (const [job, isGood] of ended) assert.strictEqual(isGood, !job.isPoison)
    }
  )

  it.each([
    [0, 100],
    [0.001, 100],
    [0.01, 46],
    [0.1, 4],
    [1, 1]
  ])("poison rate %d: packs of about %d files, and 100 again when it has gone", (rate, best) => {
    const limits = { files: 100 }
    // The same sequence in each run; the numbers are spread evenly over [0, 1).
    let state = 1
    const next = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
    const sizes: Array<number> = []
    let seen = Packing.unseen
    const run = (p: number) => {
      const files = Packing.size(seen, limits)
      sizes.push(files)
      const hasFailed = Arr.makeBy(files, next).some((chance) => chance < p)
      seen = Packing.remember(seen, { isHalf: false }, files, hasFailed)
    }
    for (let pack = 0; pack < 4000; pack++) run(rate)
    const late = sizes.slice(2000)
    const mean = late.reduce((sum, files) => sum + files, 0) / late.length
    assert.isAtLeast(mean, best / 1.5)
    assert.isAtMost(mean, best * 1.5)
    for (let pack = 0; pack < 1000; pack++) run(0)
    assert.strictEqual(Packing.size(seen, limits), 100)
  })

  it.each([
    [1, []],
    [2, ["0", "1"]],
    [3, ["0", "1", "2"]],
    [4, ["0,1 then 2,3"]],
    [5, ["0,1 then 2,3,4"]]
  ])("a pack of %d jobs that fails: the next packs are %j", (count, expected) => {
    const ids = (jobs: ReadonlyArray<Job>) => jobs.map(({ id }) => id).join()
    const packs = Packing.failed(Packing.make(jobsOf(count, () => true)))
    const shown = packs.map(({ jobs, other }) => (other.length === 0 ? ids(jobs) : `${ids(jobs)} then ${ids(other)}`))
    assert.deepStrictEqual(shown, expected)
  })

  it.each([true, false])("the end of a half, with a failure: %s, does not change what was seen", (hasFailed) => {
    const seen = { files: 10, failed: 1 }
    const halves = Packing.failed(Packing.make(jobsOf(4, () => true)))
    const after = halves.map((half) => Packing.remember(seen, half, 2, hasFailed))
    assert.deepStrictEqual(after, [seen])
  })
})

it.each(["a", "b"])("a job with upload %s gets its own results, and those that were made from no upload", (own) => {
  const uploads = ["a", "b"].map((id) => ({ id }))
  const results = {
    imported: [{ id: "i" }, { id: "of i", original_id: "i" }],
    encoded: [
      { id: "of a", original_id: "a" },
      { id: "of b", original_id: "b" },
      { id: "of both", original_id: ["a", "b"] }
    ]
  }
  const status = { ok: "ASSEMBLY_COMPLETED", assembly_id: Assembly.AssemblyId.make("0".repeat(32)), uploads, results }
  const shared = PackedStatus.share(
    status,
    uploads.filter(({ id }) => id === own)
  )
  assert.deepStrictEqual(
    Object.values(shared.results ?? {}).map((files) => files.map(({ id }) => id)),
    [
      ["i", "of i"],
      [`of ${own}`, "of both"]
    ]
  )
})
