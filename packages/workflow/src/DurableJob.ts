/**
 * The models of durable jobs: what a program starts, and what it reads.
 *
 * The schemas are a wire format: they decode the rows of the database. A field may be added as an optional key, and no
 * field changes its meaning.
 *
 * @since 0.1.0
 */
import type * as Assemblies from "@assembly-effect/api/Assemblies"
import { Schema } from "effect"
import { KeyText } from "./internal/keyText.ts"

/**
 * A reference to the bytes of a file. `Durable.start`, `startAll` and `retry` open the source to check it, and a runner
 * opens it again each time the upload starts or continues.
 *
 * - `Path`: a file. If several machines run jobs, the path must lead to the same file on each machine.
 * - `Object`: the object `key` in an object store of the application, see `ObjectStores`. Only the name of the
 *   store and the key are stored, never a presigned URL.
 *
 * @since 0.1.0
 * @category models
 */
export const Source = Schema.TaggedUnion({
  Path: { path: Schema.NonEmptyString },
  Object: { store: Schema.NonEmptyString, key: Schema.NonEmptyString }
})
/**
 * The type of {@link Source}.
 *
 * @since 0.1.0
 * @category models
 */
export type Source = typeof Source.Type

/**
 * References a file by its path. A relative path is made absolute when the job is started.
 *
 * @example DurableJob.path("/mnt/videos/cat.mp4")
 *
 * @since 0.1.0
 * @category constructors
 */
export const path = (file: string): Source => ({ _tag: "Path", path: file })

/**
 * References an object in a named object store of the application.
 *
 * @example DurableJob.object("videos", "2026/cat.mp4")
 *
 * @since 0.1.0
 * @category constructors
 */
export const object = (store: string, key: string): Source => ({ _tag: "Object", store, key })

/**
 * One file of a job. `fieldname` is `file` by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface File {
  readonly source: Source
  readonly filename: string
  readonly fieldname?: string | undefined
  readonly metadata?: Readonly<Record<string, string | null>> | undefined
}

/**
 * A job: files to upload into one Assembly.
 *
 * - `key`: identifies the job, such as the id of a row in a database. The database has one job for each key: if the
 *   key has a job with other params or files, `Durable.start` fails with `JobConflict`. A key is stored and shown as it
 *   is, so it must not contain a secret.
 * - `params`: the params that create the Assembly. The params are stored as they are, so they must not contain a
 *   secret. The package adds the id of the Assembly and the number of files to the params.
 * - `files`: at least one file.
 *
 * @since 0.1.0
 * @category models
 */
export interface Job {
  readonly key: string
  readonly params: Omit<Assemblies.CreateOptions, "assemblyId" | "numExpectedUploadFiles">
  readonly files: ReadonlyArray<File>
}

/**
 * The state of a job.
 *
 * - `Queued`: no runner has started the job. The job waits for a runner with a free place.
 * - `Uploading`: a runner creates the Assembly or sends bytes. If this runner ends, the job stays in this state, and
 *   another runner continues it.
 * - `Processing`: all bytes are stored, and the Assembly has not ended.
 * - `Completed`: the Assembly has completed.
 * - `Failed`: the job failed, or the service did not confirm the cancellation of its Assembly. `Durable.retry` starts
 *   its next attempt.
 * - `Canceling`: the runner stops sending bytes, and cancels the Assembly.
 * - `Canceled`: the job was canceled.
 *
 * @since 0.1.0
 * @category models
 */
export const State = Schema.Literals([
  "Queued",
  "Uploading",
  "Processing",
  "Completed",
  "Failed",
  "Canceling",
  "Canceled"
])
/**
 * The type of {@link State}.
 *
 * @since 0.1.0
 * @category models
 */
export type State = typeof State.Type

/**
 * Why an attempt failed. `reason` is the `_tag` of the error, or `Defect` for an error without a tag. `message` is the
 * message of the error without capabilities.
 *
 * @since 0.1.0
 * @category models
 */
export const Failure = Schema.Struct({ reason: Schema.String, message: Schema.String })
/**
 * The type of {@link Failure}.
 *
 * @since 0.1.0
 * @category models
 */
export type Failure = typeof Failure.Type

/**
 * Why a job that has not ended waits, for example because the service does not answer, or refuses the credentials.
 * `reason` and `message` describe the last error, as in {@link Failure}. `at` is the time of this error, in
 * milliseconds since 1970. The runner tries again.
 *
 * @since 0.1.0
 * @category models
 */
export const Waiting = Schema.Struct({ ...Failure.fields, at: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)) })
/**
 * The type of {@link Waiting}.
 *
 * @since 0.1.0
 * @category models
 */
export type Waiting = typeof Waiting.Type

/**
 * A job as the database describes it.
 *
 * - `attempt`: 1 for the first attempt. Each `Durable.retry` adds 1.
 * - `size`: the size of all files in bytes.
 * - `queuedAt`, `endedAt`: when the attempt was queued, and when it ended, in milliseconds since 1970.
 * - `failure`: why the attempt failed, in the state `Failed`.
 * - `waiting`: the last failure, if the runner tries again after it. An attempt that waits only for a place or for its
 *   Assembly has no `waiting`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Summary {
  readonly key: string
  readonly attempt: number
  readonly state: State
  readonly size: bigint
  readonly queuedAt: number
  readonly endedAt: number | undefined
  readonly failure: Failure | undefined
  readonly waiting: Waiting | undefined
}

/**
 * A job with `stored`, the number of bytes that the service has stored. `stored` is undefined if this number could not
 * be read from the service.
 *
 * @since 0.1.0
 * @category models
 */
export interface Status extends Summary {
  readonly stored: bigint | undefined
}

const Time = Schema.optional(Schema.Int)
const Range = Schema.Struct({ from: Time, until: Time })

/**
 * Selects jobs. A job must meet every condition that is given.
 *
 * - `state`: the state of the job.
 * - `prefix`: how the key begins, letter by letter: `%` and `_` stand for themselves, and `a` is not `A`.
 * - `queued`, `ended`: when the attempt was queued, and when it ended, in milliseconds since 1970: not before `from`, and
 *   before `until`.
 * - `after`: the cursor: only jobs that a list has after the job with this key. The key of the last job that was read
 *   continues a list, also after other jobs were started or removed.
 *
 * @since 0.1.0
 * @category models
 */
export const Filter = Schema.Struct({
  state: Schema.optional(State),
  prefix: Schema.optional(KeyText),
  queued: Schema.optional(Range),
  ended: Schema.optional(Range),
  after: Schema.optional(KeyText)
})
/**
 * The type of {@link Filter}.
 *
 * @since 0.1.0
 * @category models
 */
export type Filter = typeof Filter.Type

/**
 * How many jobs are in a state, and when the oldest of them was queued, in milliseconds since 1970. `oldest` is undefined
 * without such a job, and for the states of ended jobs.
 *
 * @since 0.1.0
 * @category models
 */
export interface Count {
  readonly state: State
  readonly jobs: number
  readonly oldest: number | undefined
}
