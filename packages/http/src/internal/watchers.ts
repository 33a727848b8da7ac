import * as Effect from "effect/Effect"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as Refusal from "../Refusal.ts"

/** An event with its number. `isLast`: no other event follows. */
export interface Numbered<Event> {
  readonly number: number
  readonly event: Event
  readonly isLast: boolean
}

/**
 * An upload in memory, with its `state`:
 *
 * - `announced`: a page watches the upload, but the upload has not started.
 * - `arriving`: the request of the upload arrives, and the policy has not permitted the upload yet.
 * - `running`: the policy has permitted the upload.
 * - `ended`: the file is stored, or the upload has failed. Another request may use the id.
 */
interface Entry<Event> {
  readonly events: PubSub.PubSub<Numbered<Event>>
  state: "announced" | "arriving" | "running" | "ended"
  count: number
  watchers: number
}

/**
 * The maximum number of events that are kept for a watcher that starts late or reads slowly. Older events are dropped.
 */
const kept = 64

/**
 * How long an upload is kept after its end, in milliseconds. Within this time, a page that lost its connection can
 * connect again and get the last event.
 */
const remembered = 60_000

/**
 * The limits of the requests, uploads and pages that a route serves at the same time.
 *
 * - `arriving`: the maximum number of requests that the policy has not permitted yet.
 * - `uploads`: the maximum number of permitted uploads.
 * - `watchers`: the maximum number of pages that watch uploads.
 */
export interface Limits {
  readonly arriving: number
  readonly uploads: number
  readonly watchers: number
}

/**
 * What `start` returns for an upload whose request has begun to arrive. `permit` marks the upload as running, `tell`
 * sends an event to the watchers of the upload, and `end` sends the last event.
 */
export interface Started<Event> {
  readonly permit: Effect.Effect<void, Refusal.Busy>
  readonly tell: (event: Event) => Effect.Effect<void>
  readonly end: (event: Event) => Effect.Effect<void>
}

/** The uploads of a route, by the ids that their pages chose. */
export const make = Effect.fnUntraced(function* <Event>(limits: Limits) {
  const scope = yield* Effect.scope
  const entries = new Map<string, Entry<Event>>()
  /** The uploads that have ended and are kept, in the order of their ends. */
  const ended = new Map<string, Entry<Event>>()
  let arriving = 0
  let running = 0
  let watching = 0

  const forget = (id: string, entry: Entry<Event>) =>
    Effect.sync(() => {
      if (entries.get(id) === entry) entries.delete(id)
      if (ended.get(id) === entry) ended.delete(id)
    })

  /**
   * After the end of an upload, keeps the upload and its newest events for a minute. If too many uploads are kept, the
   * upload that ended first is forgotten before its minute is over.
   */
  const keep = (id: string, entry: Entry<Event>) =>
    Effect.gen(function* () {
      ended.set(id, entry)
      const [oldest] = ended
      if (ended.size > limits.uploads + limits.watchers && oldest !== undefined) yield* forget(...oldest)
      yield* Effect.forkIn(Effect.andThen(Effect.sleep(remembered), forget(id, entry)), scope)
    })

  const add = (id: string) =>
    Effect.map(PubSub.sliding<Numbered<Event>>({ capacity: kept, replay: kept }), (events) => {
      // Another fiber may have added the entry while this fiber made the `PubSub`.
      const entry: Entry<Event> = entries.get(id) ?? { events, state: "announced", count: 0, watchers: 0 }
      entries.set(id, entry)
      return entry
    })

  const find = (id: string) =>
    Effect.suspend(() => {
      const entry = entries.get(id)
      return entry === undefined ? add(id) : Effect.succeed(entry)
    })

  const publish = (entry: Entry<Event>, event: Event, isLast: boolean) =>
    Effect.suspend(() => PubSub.publish(entry.events, { number: ++entry.count, event, isLast }))

  /** Marks an upload as arriving. When the scope closes, the upload has ended. */
  const start = (id: string): Effect.Effect<Started<Event>, Refusal.Busy | Refusal.UploadExists, Scope.Scope> =>
    Effect.gen(function* () {
      const earlier = entries.get(id)
      if (earlier?.state === "ended") yield* forget(id, earlier)
      const entry = yield* find(id)
      if (entry.state !== "announced") {
        return yield* new Refusal.UploadExists({ description: "An upload with this id is running." })
      }
      if (arriving >= limits.arriving) {
        if (entry.watchers === 0) yield* forget(id, entry)
        return yield* new Refusal.Busy({ description: "Too many uploads are arriving." })
      }
      arriving++
      entry.state = "arriving"
      const leave = Effect.suspend(() => {
        if (entry.state === "running") running--
        else if (entry.state === "arriving") arriving--
        else return Effect.void
        entry.state = "ended"
        return keep(id, entry)
      })
      yield* Effect.addFinalizer(() => leave)
      return {
        permit: Effect.suspend(() => {
          if (running >= limits.uploads) {
            return Effect.fail(new Refusal.Busy({ description: "Too many uploads are running." }))
          }
          arriving--
          running++
          entry.state = "running"
          return Effect.void
        }),
        tell: (event) => publish(entry, event, false),
        // The id and the room are free before the page learns it, so that the page can send again at once.
        end: (event) => Effect.andThen(leave, publish(entry, event, true))
      } satisfies Started<Event>
    }).pipe(Effect.uninterruptible)

  /** Whether the upload has ended, and no event of the upload has a higher number than `seen`. */
  const hasSeen = (id: string, seen: number): boolean => {
    const entry = entries.get(id)
    return entry?.state === "ended" && entry.count <= seen
  }

  /**
   * The events of an upload after the event with the number `seen`, up to the last event. The upload may start after
   * this call.
   */
  const watch = (id: string, seen: number): Effect.Effect<Stream.Stream<Numbered<Event>>, Refusal.Busy, Scope.Scope> =>
    Effect.gen(function* () {
      const entry = yield* Effect.acquireRelease(
        Effect.gen(function* () {
          if (watching >= limits.watchers) {
            return yield* new Refusal.Busy({ description: "Too many pages watch uploads." })
          }
          watching++
          const found = yield* find(id)
          found.watchers++
          return found
        }),
        (found) =>
          Effect.suspend(() => {
            watching--
            found.watchers--
            return found.watchers === 0 && found.state === "announced" ? forget(id, found) : Effect.void
          })
      )
      const subscription = yield* PubSub.subscribe(entry.events)
      return Stream.fromSubscription(subscription).pipe(
        Stream.filter(({ number }) => number > seen),
        Stream.takeUntil(({ isLast }) => isLast)
      )
    })

  return {
    start,
    watch,
    hasSeen,
    /** The number of uploads in memory. */
    known: () => entries.size
  }
})
