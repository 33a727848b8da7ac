/**
 * The budget of an account, over stores that several processes may share.
 */
import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as Pacing from "../unstable/Pacing.ts"
import * as Telemetry from "../unstable/Telemetry.ts"

/**
 * The store of a budget failed. `cause` is the error of the database.
 *
 * @since 0.1.0
 * @category errors
 */
export class BudgetStoreFailed extends Data.TaggedError("BudgetStoreFailed")<{ readonly cause: unknown }> {}

/**
 * What the processes of an account share beside the counters of a `RateLimiterStore`. All times are durations in
 * milliseconds, because only the clock of the store counts: those of the processes may differ.
 *
 * - `pauseLeft`, `pause`: how long a pause still is. A pause never becomes shorter.
 * - `hold`: prolongs the place of an Assembly by `millis`, or takes one of `limit` places. False if all are taken.
 * - `release`: gives a place back.
 * - `overdue`: the Assemblies whose places nobody has prolonged in time. Prolongs these places by `millis`, so that only
 *   one program asks for each Assembly.
 *
 * @since 0.1.0
 * @category services
 */
export class BudgetStore extends Context.Service<
  BudgetStore,
  {
    readonly pauseLeft: (name: string) => Effect.Effect<number, BudgetStoreFailed>
    readonly pause: (name: string, millis: number) => Effect.Effect<void, BudgetStoreFailed>
    readonly hold: (options: {
      readonly account: string
      readonly assemblyId: string
      readonly limit: number
      readonly millis: number
    }) => Effect.Effect<boolean, BudgetStoreFailed>
    readonly release: (options: {
      readonly account: string
      readonly assemblyId: string
    }) => Effect.Effect<void, BudgetStoreFailed>
    readonly overdue: (options: {
      readonly account: string
      readonly millis: number
    }) => Effect.Effect<ReadonlyArray<string>, BudgetStoreFailed>
  }
>()("@assembly-effect/api/BudgetStore") {}

/** How long this process runs, in milliseconds. Nobody can set this clock. */
const uptime = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/**
 * Keeps the pauses and the running Assemblies of one process.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory: Layer.Layer<BudgetStore> = Layer.fresh(
  Layer.sync(BudgetStore, () => {
    const pauses = new Map<string, number>()
    const accounts = new Map<string, Map<string, number>>()
    const placesOf = (account: string) => {
      const places = accounts.get(account) ?? new Map<string, number>()
      accounts.set(account, places)
      return places
    }
    return {
      pauseLeft: (name) => Effect.map(uptime, (now) => Math.max(0, (pauses.get(name) ?? 0) - now)),
      pause: (name, millis) =>
        Effect.map(uptime, (now) => pauses.set(name, Math.max(now + millis, pauses.get(name) ?? 0))),
      hold: ({ account, assemblyId, limit, millis }) =>
        Effect.map(uptime, (now) => {
          const places = placesOf(account)
          if (!places.has(assemblyId) && places.size >= limit) return false
          places.set(assemblyId, now + millis)
          return true
        }),
      release: ({ account, assemblyId }) => Effect.sync(() => placesOf(account).delete(assemblyId)),
      overdue: ({ account, millis }) =>
        Effect.map(uptime, (now) => {
          const places = placesOf(account)
          const found = Array.from(places).flatMap(([assemblyId, held]) => (held <= now ? [assemblyId] : []))
          for (const assemblyId of found) places.set(assemblyId, now + millis)
          return found
        })
    }
  })
)

const waitsFor = (kind: string) =>
  Metric.histogram("assembly_budget_wait", {
    description: "How long requests waited for the budget of the account",
    boundaries: [100, 1_000, 10_000, 60_000, 600_000, 3_600_000],
    attributes: { kind, time_unit: "milliseconds" }
  })

const late = (wait: number) => new Budget.NotAdmitted({ wait: Option.some(Duration.millis(wait)) })

/** Takes something and returns 0, or returns after which time to try again, in milliseconds. */
type Take = Effect.Effect<number, Budget.NotAdmitted>

/**
 * Makes a queue in front of something that is taken, such as a token. The first waits until it can take it; the others
 * wait for their turn. Whoever is interrupted, or would wait too long, takes nothing.
 *
 * - `kind`, `reason`: what is waited for, in telemetry and for the listener.
 * - `interval`: the time between two turns, in milliseconds, for an estimate.
 * - `pass`: waits for a time, or until something changes.
 */
const makeLane = (
  kind: string,
  reason: string,
  interval: number,
  pass: (millis: number) => Effect.Effect<void> = (millis) => Effect.sleep(millis)
) => {
  const turn = Semaphore.makeUnsafe(1)
  let waiting = 0
  let nextAt = 0

  /** How long a newcomer waits, if nobody else takes anything. 0 if it is not known that anybody waits. */
  const ahead = (now: number) => (nextAt <= now || waiting === 0 ? 0 : nextAt - now + waiting * interval)

  /** Waits until `take` has taken something, at most until the time `until`. */
  return Effect.fnUntraced(function* (take: Take, until: number): Effect.fn.Return<void, Budget.NotAdmitted> {
    const begun = yield* Clock.currentTimeMillis
    const listeners = yield* Budget.Listeners
    let hasWaited = false
    const tell = (end: number) => {
      if (hasWaited) return Effect.void
      hasWaited = true
      return Effect.forEach(listeners, ({ waits }) => waits({ reason, until: end }), { discard: true })
    }
    const wait = ahead(begun)
    if (begun + wait >= until) return yield* late(wait)
    if (wait > 0) yield* tell(begun + wait)
    const taken = Effect.gen(function* () {
      for (let pause = yield* take; pause > 0; pause = yield* take) {
        nextAt = (yield* Clock.currentTimeMillis) + pause
        if (nextAt >= until) return yield* late(pause)
        yield* tell(nextAt)
        yield* pass(pause)
      }
    })
    const queue = Effect.suspend(() => {
      waiting++
      return turn.withPermits(1)(taken)
    }).pipe(Effect.ensuring(Effect.sync(() => waiting--)))
    yield* until === Infinity
      ? queue
      : Effect.timeoutOrElse(queue, {
          duration: until - begun,
          orElse: () => Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(late(Math.max(1, nextAt - now))))
        })
    if (!hasWaited) return
    const waited = (yield* Clock.currentTimeMillis) - begun
    for (const listener of listeners) listener.waited?.(waited)
    yield* Metric.update(waitsFor(kind), waited)
    yield* Telemetry.adding(`assembly.budget.${kind}.wait_ms`, waited)
  })
}

const Quota = Schema.optional(Schema.Union([Rules.whole(1), Schema.Literal(false)]))

/**
 * The rules of `Budget.Options`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Settings = Schema.Struct({
  created: Quota,
  running: Quota,
  requests: Schema.optional(Rules.whole(1)),
  account: Schema.optional(Rules.notBlank.check(Schema.isMaxLength(200)))
})

const decode = Rules.decoder("Budget.layer", Settings)

/** The quotas of the public service: Assemblies created in a minute, and Assemblies running at once. */
const ofPublicService = 250

/** How long a place is held without a renewal, in milliseconds. */
const placeMillis = 90_000

/** How often a full account is looked at, to see places that other processes have given back, in milliseconds. */
const poll = 1000

/** For how long a process relies on what it knows about pauses, in milliseconds. */
const fresh = 500

/** The longest pause, in milliseconds. */
const longestPause = 86_400_000

const pauses = (need: Budget.Need) =>
  Metric.counter("assembly_budget_pauses", {
    description: "Pauses that the service requested",
    incremental: true,
    attributes: { need }
  })

const broken = () => new Budget.NotAdmitted({ wait: Option.none() })

/**
 * Makes a budget over the stores in the context.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* (options: Schema.Codec.Encoded<typeof Settings> = {}) {
  const { account = "default", created, requests, running } = yield* decode(options)
  const limiter = yield* RateLimiter.RateLimiter
  const store = yield* BudgetStore

  /** A quota at a URL, or undefined if there is none. */
  const quotaAt = (url: string, quota: number | false | undefined): number | undefined => {
    if (quota !== undefined) return quota === false ? undefined : quota
    return ServiceOrigins.isPublic(new URL(url).origin) ? ofPublicService : undefined
  }

  /** The ends of pauses that this process knows, in its uptime. */
  const known = { request: { until: 0, readAt: -Infinity }, creation: { until: 0, readAt: -Infinity } }
  const nameOf = (need: Budget.Need) => `${account}/${need}`

  /** How long a pause still is. Nobody waits for less, and those who wait together do not end together. */
  const pauseLeft = Effect.fnUntraced(function* (need: Budget.Need) {
    const pause = known[need]
    const now = yield* uptime
    if (pause.until <= now && now - pause.readAt >= fresh) {
      pause.until = Math.max(pause.until, now + (yield* store.pauseLeft(nameOf(need))))
      pause.readAt = now
    }
    const left = pause.until - now
    return left <= 0 ? 0 : Math.ceil(left + (yield* Random.next) * Math.min(1000, left / 10))
  }, Effect.mapError(broken))

  /** Takes a token of a pace and returns 0, or returns how long the next token takes. */
  const token = (name: string, { bucket: limit, interval }: Pacing.Pace, tokens = 1) =>
    limiter
      .consume({ key: `${account}/${name}`, algorithm: "token-bucket", limit, window: limit * interval, tokens })
      .pipe(
        Effect.as(0),
        Effect.catchReason("RateLimiterError", "RateLimitExceeded", ({ retryAfter }) =>
          Effect.succeed(Math.max(1, Math.ceil(Duration.toMillis(retryAfter))))
        ),
        Effect.mapError(broken)
      )

  const requestPace = requests === undefined ? undefined : Pacing.of(requests, 10_000)
  const requestLane = makeLane("requests", "the service limits the requests of the account", requestPace?.interval ?? 0)
  const takeRequest = Effect.flatMap(pauseLeft("request"), (left) =>
    left > 0 || requestPace === undefined ? Effect.succeed(left) : token("requests", requestPace)
  )
  /** A creation that is interrupted while it waits gives the token of its request back. */
  const returnRequest = requestPace === undefined ? Effect.void : Effect.ignore(token("requests", requestPace, -1))

  const creationPace = (quota: number) => Pacing.of(quota, 60_000)
  const creationLane = makeLane(
    "creations",
    "the account may create no more Assemblies now",
    creationPace(created || ofPublicService).interval
  )
  /** Whether a pause of creations has filled the bucket. */
  let isFull = false
  const takeCreation = Effect.fnUntraced(function* (quota: number | undefined) {
    const pause = yield* pauseLeft("creation")
    const left = Math.max(pause, yield* pauseLeft("request"))
    if (pause > 0) isFull = true
    if (left > 0 || quota === undefined) return left
    const pace = creationPace(quota)
    // The service has just refused one: it takes the next at the pace, and not a bucket at once.
    if (isFull) yield* token("creations", pace, pace.bucket)
    isFull = false
    return yield* token("creations", pace)
  })

  const freed = Latch.makeUnsafe(false)
  const runningLane = makeLane("running", "the account runs as many Assemblies as it may", 0, (millis) =>
    Effect.asVoid(Effect.timeoutOption(freed.await, millis))
  )

  const release = (assemblyId: string) =>
    Effect.andThen(Effect.ignore(store.release({ account, assemblyId })), freed.open)

  const hold = (assemblyId: string, limit: number) =>
    Effect.mapError(store.hold({ account, assemblyId, limit, millis: placeMillis }), broken)

  /** Takes a place for an Assembly. If none is free, asks whether the Assemblies whose holders have died still run. */
  const takePlace = Effect.fnUntraced(function* (assemblyId: string, limit: number, { isRunning }: Budget.Watcher) {
    freed.closeUnsafe()
    if (yield* hold(assemblyId, limit)) return 0
    const overdue = yield* Effect.mapError(store.overdue({ account, millis: placeMillis }), broken)
    yield* Effect.forEach(
      overdue,
      (other) => Effect.flatMap(isRunning(other), (runs) => (runs ? Effect.void : release(other))),
      { concurrency: 16, discard: true }
    )
    return overdue.length > 0 && (yield* hold(assemblyId, limit)) ? 0 : poll
  })

  const enterCreation = Effect.fnUntraced(function* ({ assemblyId, until, url }: Budget.Asking) {
    const watcher = yield* Budget.Watcher
    const places = quotaAt(url, running)
    const paced = creationLane(takeCreation(quotaAt(url, created)), until)
    const admitted = Effect.andThen(
      requestLane(takeRequest, until),
      Effect.onError(paced, () => returnRequest)
    )
    if (watcher === undefined || assemblyId === undefined || places === undefined) return yield* admitted
    yield* runningLane(takePlace(assemblyId, places, watcher), until)
    yield* Effect.onError(admitted, () => release(assemblyId))
  })

  return {
    enter: (asking) => (asking.need === "creation" ? enterCreation(asking) : requestLane(takeRequest, asking.until)),
    pause: Effect.fnUntraced(function* (need, wait) {
      if (Duration.isZero(wait)) return
      const millis = Math.min(longestPause, Math.ceil(Duration.toMillis(wait)))
      known[need].until = Math.max(known[need].until, (yield* uptime) + millis)
      if (need === "creation") isFull = true
      yield* Metric.update(pauses(need), 1)
      yield* Effect.ignore(store.pause(nameOf(need), millis))
    }),
    keep: (url, assemblyId) => {
      const limit = quotaAt(url, running)
      return limit === undefined ? Effect.void : Effect.ignore(hold(assemblyId, limit))
    },
    release: (url, assemblyId) => (quotaAt(url, running) === undefined ? Effect.void : release(assemblyId))
  } satisfies Budget.Budget
})
