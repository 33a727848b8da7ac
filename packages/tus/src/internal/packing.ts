/**
 * The rules of packing: which jobs share an Assembly, and what follows when this Assembly has ended. The rules have no
 * clock, no database and no HTTP. They are driven like this:
 *
 * 1. Jobs of equal params, fields and account wait in one queue, in the order of their arrival.
 * 2. When a job arrives, when a place is free, and when the first job has waited for `within`, {@link ready} says how many
 *    of the first jobs are the next pack. {@link make} makes this pack, and one Assembly runs it.
 * 3. When the Assembly has ended, {@link remember} learns from it. {@link completed} or {@link failed} returns the packs
 *    that run next. The jobs of a completed pack have completed. The job of a pack of one that failed has failed, and
 *    every other job is in one of the next packs.
 */
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"

/**
 * - `files`: the maximum number of files of a pack.
 * - `bytes`: the maximum number of bytes of a pack.
 * - `within`: how long a job waits at most until its pack runs, in milliseconds.
 *
 * A job is never divided, so a job above a maximum is a pack of its own.
 *
 * @since 0.1.0
 * @category models
 */
export interface Limits {
  readonly files: number
  readonly bytes: number
  readonly within: number
}

/**
 * The options of packs, see `AssemblyUpload.AllOptions`.
 *
 * @since 0.1.0
 * @category packing
 */
export const Options = Schema.Struct({
  files: Schema.optional(Rules.whole(1)),
  bytes: Schema.optional(Rules.whole(1)),
  within: Schema.optional(Rules.pause),
  repeatable: Schema.Literal(true)
})
/**
 * The type of {@link Options}.
 *
 * @since 0.1.0
 * @category packing
 */
export type Options = typeof Options.Type

/**
 * The limits that options set.
 *
 * @since 0.1.0
 * @category packing
 */
export const limitsOf = ({ bytes = 64 * 1024 * 1024, files = 100, within = Duration.seconds(2) }: Options): Limits => ({
  files,
  bytes,
  within: Math.ceil(Duration.toMillis(within))
})

/** The default number of files of packs that are uploaded at the same time. */
export const uploadsAtOnce = 16

/**
 * A job that waits since the time `at`, in milliseconds.
 *
 * @since 0.1.0
 * @category models
 */
export interface Item {
  readonly files: number
  readonly bytes: number
  readonly at: number
}

/**
 * Jobs that run in one Assembly.
 *
 * - `other`: the other half of a pack that failed, if this pack is one half. It waits for the end of this pack.
 * - `isHalf`: whether the pack is a part of a pack that failed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Pack<J> {
  readonly jobs: Arr.NonEmptyReadonlyArray<J>
  readonly other: ReadonlyArray<J>
  readonly isHalf: boolean
}

/** The pack of jobs that have waited. */
export const make = <J>(jobs: Arr.NonEmptyReadonlyArray<J>): Pack<J> => ({ jobs, other: [], isHalf: false })

/** A part of a pack that failed. */
const part = <J>(jobs: Pack<J>["jobs"], other: Pack<J>["other"] = []): Pack<J> => ({ jobs, other, isHalf: true })

/**
 * The parts of jobs of which one fails. Only the first half runs at once, because its end says whether the other half
 * can complete as a whole. Up to 3 jobs run alone, because halves would not save an Assembly.
 */
const divided = <J>(jobs: ReadonlyArray<J>): ReadonlyArray<Pack<J>> => {
  if (jobs.length <= 3) return jobs.map((job) => part([job]))
  const [first, other] = Arr.splitAt(jobs, Math.floor(jobs.length / 2))
  return Arr.isReadonlyArrayNonEmpty(first) ? [part(first, other)] : []
}

/** What runs after a pack has completed. The failure of the divided pack came from the other half, so this is divided. */
export const completed = <J>({ other }: Pick<Pack<J>, "other">): ReadonlyArray<Pack<J>> => divided(other)

/**
 * What runs after a pack failed: its halves. The other half of the divided pack may complete, so it runs as a whole. A
 * single job that fails among n jobs is alone after at most 2·log2(n) + 1 further Assemblies.
 */
export const failed = <J>({ jobs, other }: Pack<J>): ReadonlyArray<Pack<J>> =>
  next(jobs.length === 1 ? [] : jobs, other)

/** The packs of jobs of which one fails, and of jobs of which none may fail. */
export const next = <J>(suspects: ReadonlyArray<J>, others: ReadonlyArray<J>): ReadonlyArray<Pack<J>> => [
  ...divided(suspects),
  ...(Arr.isReadonlyArrayNonEmpty(others) ? [part(others)] : [])
]

/**
 * How many files the last packs had, and how many of these packs failed. Older packs count less and less.
 *
 * @since 0.1.0
 * @category models
 */
export interface Seen {
  readonly files: number
  readonly failed: number
}

export const unseen: Seen = { files: 0, failed: 0 }

/** The part that each pack leaves of the packs before it: about 20 packs are remembered. */
const kept = 0.95

/** Adds the end of a pack with this number of files. The halves of failed packs do not count, because they have more failures. */
export const remember = (
  seen: Seen,
  { isHalf }: Pick<Pack<unknown>, "isHalf">,
  files: number,
  hasFailed: boolean
): Seen => (isHalf ? seen : { files: seen.files * kept + files, failed: seen.failed * kept + (hasFailed ? 1 : 0) })

/**
 * The part of the packs that fail where the number of Assemblies is the smallest. If each file fails with the
 * probability p, a pack of n files needs 1 Assembly, and 1.5·log2(n) more for each file that fails, which are
 * 1/n + 1.5·p·log2(n) for each file. This is the smallest at n = ln(2)/(1.5·p), where 1 − (1 − p)^n = 0.37 of the packs
 * fail. (1/√p would be right if a failed pack were sent again file by file.)
 */
const bestFailures = 0.37

/** The number of files of the next pack. Without failures, it is the maximum. */
export const size = ({ failed: failures, files }: Seen, limits: Pick<Limits, "files">): number =>
  failures === 0 ? limits.files : Math.min(limits.files, Math.max(1, Math.floor((bestFailures * files) / failures)))

/**
 * How many of the first jobs are the next pack: as many as fit, if the pack is full, or if the first job has waited for
 * `within`. Otherwise 0, which means that the jobs wait until {@link dueAt}.
 */
export const ready = (waiting: Iterable<Item>, limits: Limits, seen: Seen, now: number): number => {
  const most = size(seen, limits)
  let count = 0
  let files = 0
  let bytes = 0
  let isDue = false
  for (const item of waiting) {
    files += item.files
    bytes += item.bytes
    if (count > 0 && (files > most || bytes > limits.bytes)) return count
    count++
    isDue ||= dueAt(item, limits) <= now
    if (files >= most || bytes >= limits.bytes) return count
  }
  return isDue ? count : 0
}

/** When the pack of the first job that waits is due, in milliseconds. */
export const dueAt = (first: Item, limits: Limits): number => first.at + limits.within
