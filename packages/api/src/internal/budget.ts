import * as Budget from "@assembly-effect/auth/unstable/Budget"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Latch from "effect/Latch"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as RateLimiter from "effect/persistence/RateLimiter"
import * as Random from "effect/Random"
import * as Schema from "effect/Schema"
import * as Pacing from "../unstable/Pacing.ts"
import { BudgetStore, uptime } from "./budgetStore.ts"
import * as Lane from "./lane.ts"

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
  const requestLane = Lane.make(
    "requests",
    "the service limits the requests of the account",
    requestPace?.interval ?? 0
  )
  const takeRequest = Effect.flatMap(pauseLeft("request"), (left) =>
    left > 0 || requestPace === undefined ? Effect.succeed(left) : token("requests", requestPace)
  )
  /** A creation that is interrupted while it waits gives the token of its request back. */
  const returnRequest = requestPace === undefined ? Effect.void : Effect.ignore(token("requests", requestPace, -1))

  const creationPace = (quota: number) => Pacing.of(quota, 60_000)
  const creationLane = Lane.make(
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
  const runningLane = Lane.make("running", "the account runs as many Assemblies as it may", 0, (millis) =>
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
