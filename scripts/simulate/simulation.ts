/**
 * Simulates durable jobs of one file each: runners, the budget of the account, packing, and the quotas of the service. The
 * pace of the budget and the rules of packing are the modules that the packages run. The queue, which the packages keep in
 * SQL, is in the order of its index: what is due first comes first.
 */
import * as Pacing from "@assembly-effect/api/unstable/Pacing"
import { Draw } from "@assembly-effect/testkit/hostile/fuzz/Draw"
import * as Arr from "effect/Array"
import * as MutableList from "effect/MutableList"
import * as Packing from "../../packages/tus/src/internal/packing.ts"

/** `poison`: the part of the files whose Assembly fails. Without `packing`, each file has an Assembly of its own. */
export interface Scenario {
  readonly files: number
  readonly runners: number
  readonly poison: number
  readonly packing: Packing.Limits | undefined
  readonly seed: number
}

/**
 * What happened. Times are in seconds: `busy` is that of all connections together, and a wait is the time from the start
 * of the batch to the end of a job. `sent` counts files, also those that were sent again.
 */
export interface Report {
  readonly seconds: number
  readonly requests: number
  readonly refusals: number
  readonly assemblies: number
  readonly sent: number
  readonly bytes: number
  readonly busy: number
  readonly failed: number
  readonly waits: { readonly p50: number; readonly p99: number }
}

/** The quota of the service, created and running. Times below are in milliseconds. */
const quota = 250
const minute = 60_000

/** The files that a runner sends at once, as many as the jobs or packs that it begins at once. */
export const uploads = 8
/** The bytes that one of these connections sends in a millisecond. */
const rate = 15_000
/** A larger file needs a second request, because only the first bytes are sent with the creation of its upload. */
const inCreation = 1_048_576
/** The part of the creations whose answer is lost. Half of them have not arrived either. */
const lost = 0.05
/** When a lost answer is noticed. */
const noticed = 5000
/** The pauses between the reads of a look, the pause after the first look, and the longest pause. */
const reads = [0, 100, 150, 225, 337, 506, 759]
const [firstPause, longestPause] = [5000, minute]

const randomOf = (seed: number) => {
  const draw = new Draw(seed)
  const next = () => draw.next()
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  return { next, logNormal: (median: number, sigma: number) => median * Math.exp(sigma * normal()) }
}

/** When the looks notice that an Assembly has ended, and with how many requests. */
const look = (took: number) => {
  let [at, requests, waited] = [0, 0, 0]
  for (;;) {
    for (const pause of reads) {
      at += pause
      requests++
      if (at >= took) return { at, requests }
    }
    const pause = Math.min(longestPause, Math.max(firstPause, waited))
    at += pause
    waited += pause
  }
}

interface Event {
  readonly at: number
  readonly run: () => void
}

/** What will happen, the earliest first: a binary heap. */
const makeEvents = () => {
  const heap: Array<Event> = []
  const get = (index: number): Event => Arr.getUnsafe(heap, index)
  const swap = (a: number, b: number) => ([heap[a], heap[b]] = [get(b), get(a)])
  const take = (): Event | undefined => {
    const first = heap[0]
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return first
    heap[0] = last
    for (let index = 0; ;) {
      const left = 2 * index + 1
      if (left >= heap.length) return first
      const child = left + 1 < heap.length && get(left + 1).at < get(left).at ? left + 1 : left
      if (get(child).at >= get(index).at) return first
      swap(index, child)
      index = child
    }
  }
  return {
    take,
    add: (at: number, run: () => void) => {
      let index = heap.push({ at, run }) - 1
      for (let parent = (index - 1) >> 1; index > 0 && get(parent).at > at; parent = (index - 1) >> 1) {
        swap(index, parent)
        index = parent
      }
    }
  }
}

/** Takes the first of a list, or undefined. */
const first = <A>(list: MutableList.MutableList<A>): A | undefined => {
  const item = MutableList.take(list)
  return item === MutableList.Empty ? undefined : item
}

/** The quotas as the service counts them. */
const makeService = () => {
  /** When the last Assemblies were created. The next creation replaces the oldest. */
  const created = new Float64Array(quota).fill(-Infinity)
  let next = 0
  let running = 0
  return {
    /** Creates an Assembly and returns 0, or returns how long to wait. */
    create: (now: number): number => {
      const wait = (created[next] ?? 0) + minute - now
      if (wait > 0) return Math.ceil(wait / 1000) * 1000
      if (running >= quota) return 1000
      created[next] = now
      next = (next + 1) % quota
      running++
      return 0
    },
    end: () => void running--
  }
}

/** `seen`: each runner learns from its own packs. */
interface Runner {
  seen: Packing.Seen
  places: number
  sending: number
  readonly files: MutableList.MutableList<() => void>
}

export const simulate = ({ files, packing, poison, runners, seed }: Scenario): Report => {
  const random = randomOf(seed)
  const events = makeEvents()
  const service = makeService()
  const limits = packing ?? { files: 1, bytes: Infinity, within: 0 }
  const sizes = Float64Array.from({ length: files }, () => random.logNormal(200_000, 1))
  const isPoison = Uint8Array.from({ length: files }, () => (random.next() < poison ? 1 : 0))
  const endedAt = new Float64Array(files)
  const report = { requests: 0, refusals: 0, assemblies: 0, sent: 0, bytes: 0, busy: 0, failed: 0 }
  let now = 0
  const after = (millis: number, run: () => void) => events.add(now + millis, run)
  const latency = () => random.logNormal(40, 0.5)

  // The budget: places for running Assemblies, then tokens, each in the order in which they were asked for.
  const pace = Pacing.of(quota, minute)
  let bucket: Pacing.Bucket | undefined
  let pausedUntil = 0
  let free = quota
  let isTimed = false
  const forPlace = MutableList.make<() => void>()
  const forToken = MutableList.make<() => void>()
  const turn = () => {
    isTimed = false
    while (forToken.length > 0) {
      bucket = Pacing.refilled(bucket, pace, now)
      const next = now < pausedUntil ? pausedUntil : bucket.tokens > 0 ? now : bucket.at + pace.interval
      if (next > now) {
        isTimed = true
        return events.add(next, turn)
      }
      bucket = { ...bucket, tokens: bucket.tokens - 1 }
      first(forToken)?.()
    }
  }
  const withToken = (run: () => void) => {
    MutableList.append(forToken, run)
    if (!isTimed) turn()
  }
  const withPlace = (run: () => void) => {
    if (free === 0) return MutableList.append(forPlace, run)
    free--
    run()
  }
  const releasePlace = () => {
    free++
    const next = first(forPlace)
    if (next !== undefined) withPlace(next)
  }

  // The queue: the parts of failed packs are due since their pack was, so they come first.
  let begun = 0
  const parts = MutableList.make<Packing.Pack<number>>()
  const waiting = function* () {
    for (let file = begun; file < files; file++) yield { files: 1, bytes: sizes[file] ?? 0, at: 0 }
  }
  const nextPack = ({ seen }: Runner): Packing.Pack<number> | undefined => {
    const part = first(parts)
    if (part !== undefined || begun === files) return part
    const count = Packing.ready(waiting(), limits, seen, now)
    if (count === 0) return undefined
    begun += count
    return Packing.make(Arr.makeBy(count, (index) => begun - count + index))
  }

  const all = Arr.makeBy(runners, (): Runner => ({
    seen: Packing.unseen,
    places: uploads,
    sending: 0,
    files: MutableList.make()
  }))
  const idle = new Set(all)
  const wake = () => {
    for (const runner of idle) {
      while (runner.places > 0) {
        const pack = nextPack(runner)
        if (pack === undefined) return
        runner.places--
        withPlace(() => create(pack, runner))
      }
      idle.delete(runner)
    }
  }

  const create = (pack: Packing.Pack<number>, runner: Runner): void =>
    withToken(() => {
      report.requests++
      after(latency(), () => {
        const isLost = random.next() < lost
        if (isLost) report.requests++ // The Status says whether the Assembly exists.
        if (isLost && random.next() < 0.5) return after(noticed, () => create(pack, runner))
        const wait = service.create(now)
        if (wait === 0) {
          report.assemblies++
          return after(latency() + (isLost ? noticed : 0), () => upload(pack, runner))
        }
        report.refusals++
        pausedUntil = Math.max(pausedUntil, now + wait)
        after(latency(), () => create(pack, runner))
      })
    })

  const upload = (pack: Packing.Pack<number>, runner: Runner) => {
    let left = pack.jobs.length
    for (const job of pack.jobs) {
      const size = sizes[job] ?? 0
      MutableList.append(runner.files, () => {
        report.sent++
        report.bytes += size
        report.requests += size > inCreation ? 2 : 1
        const took = 2 * latency() + size / rate
        report.busy += took / 1000
        after(took, () => {
          runner.sending--
          left--
          if (left === 0) process(pack, runner)
          send(runner)
        })
      })
    }
    send(runner)
  }
  const send = (runner: Runner) => {
    while (runner.sending < uploads && runner.files.length > 0) {
      runner.sending++
      first(runner.files)?.()
    }
  }

  /** The runner looks at the Assembly until it has ended. */
  const process = (pack: Packing.Pack<number>, runner: Runner) => {
    runner.places++
    idle.add(runner)
    wake()
    const took = random.logNormal(2000, 0.5)
    after(took, service.end)
    const { at, requests } = look(took)
    report.requests += requests
    after(at, () => end(pack, runner))
  }

  const end = (pack: Packing.Pack<number>, runner: Runner) => {
    releasePlace()
    const hasFailed = pack.jobs.some((job) => isPoison[job] === 1)
    runner.seen = Packing.remember(runner.seen, pack, pack.jobs.length, hasFailed)
    if (!hasFailed || pack.jobs.length === 1) {
      for (const job of pack.jobs) endedAt[job] = now
      if (hasFailed) report.failed++
    }
    for (const part of hasFailed ? Packing.failed(pack) : Packing.completed(pack)) MutableList.append(parts, part)
    wake()
  }

  wake()
  events.add(limits.within, wake)
  for (let event = events.take(); event !== undefined; event = events.take()) {
    now = event.at
    event.run()
  }
  endedAt.sort()
  const at = (part: number) => (endedAt[Math.floor(part * (files - 1))] ?? 0) / 1000
  return { ...report, seconds: now / 1000, waits: { p50: at(0.5), p99: at(0.99) } }
}
