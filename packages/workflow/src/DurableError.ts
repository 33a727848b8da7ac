/**
 * The errors of durable jobs.
 *
 * @since 0.1.0
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { Schema } from "effect"
import * as DurableJob from "./DurableJob.ts"

/** An attempt of a job. */
const Attempt = { key: Schema.String, attempt: Schema.Int }

/**
 * Another job with this key is in the database: its params or files differ, or a file has changed since that job was
 * queued (its size, modification time or ETag). `changed` contains the names of the changed files. Use another key. If
 * the job in the database has failed or was canceled, `Durable.retry` accepts other params and files for the same key.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobConflict extends Expected.TaggedError<JobConflict>()(
  "JobConflict",
  { key: Schema.String, changed: Schema.optionalKey(Schema.Array(Schema.String)) },
  (error) => {
    const files = error.changed?.map((name) => Printable.escape(name)).join(", ")
    const other =
      files === undefined
        ? "with other params or files"
        : `of an earlier version of ${files}: its size, modification time or ETag has changed`
    return `the key ${Printable.escape(error.key)} belongs to a job ${other}; use another key, or give a job that has failed or was canceled the new params or files with Durable.retry`
  }
) {}

/**
 * No job with this key is in the database. The job was never started, or it ended and was removed.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobUnknown extends Expected.TaggedError<JobUnknown>()(
  "JobUnknown",
  { key: Schema.String },
  (error) =>
    `no job has the key ${Printable.escape(error.key)}; it was never started, or it was removed when its retention ended`
) {}

/**
 * The job failed. `Durable.retry` starts its next attempt.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobFailed extends Expected.TaggedError<JobFailed>()(
  "JobFailed",
  { ...Attempt, failure: DurableJob.Failure },
  (error) =>
    `the job ${Printable.escape(error.key)} failed in attempt ${error.attempt}: ${error.failure.reason}: ${error.failure.message}; start the next attempt with Durable.retry`
) {}

/**
 * The job was canceled. `Durable.retry` starts its next attempt.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobCanceled extends Expected.TaggedError<JobCanceled>()(
  "JobCanceled",
  Attempt,
  (error) =>
    `the job ${Printable.escape(error.key)} was canceled in attempt ${error.attempt}; start the next attempt with Durable.retry`
) {}

/**
 * The job cannot be retried, because it has not failed and was not canceled.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotRetryable extends Expected.TaggedError<NotRetryable>()(
  "NotRetryable",
  { key: Schema.String, state: DurableJob.State },
  (error) =>
    `the job ${Printable.escape(error.key)} cannot be retried in the state ${error.state}; only a job that is Failed or Canceled has a next attempt`
) {}

/**
 * The next attempt of a job cannot begin, because the Assembly of the last attempt may still run: the service did not
 * confirm that this Assembly has ended. Call `Durable.retry` again when the service answers.
 *
 * @since 0.1.0
 * @category errors
 */
export class AssemblyMayRun extends Expected.TaggedError<AssemblyMayRun>()(
  "AssemblyMayRun",
  { ...Attempt, failure: DurableJob.Failure },
  (error) =>
    `the Assembly of attempt ${error.attempt} of the job ${Printable.escape(error.key)} may still run: ${error.failure.reason}: ${error.failure.message}; try again when the service confirms that it has ended`
) {}

/**
 * The database of the jobs cannot be read or written. `description` contains the error messages of the database. `path` is
 * the path of the file, if the database is embedded. `key` is the key of a job whose row is damaged; other jobs are not
 * affected.
 *
 * @since 0.1.0
 * @category errors
 */
export class StoreFailed extends Expected.TaggedError<StoreFailed>()(
  "StoreFailed",
  {
    operation: Schema.String,
    description: Schema.String,
    path: Schema.optionalKey(Schema.String),
    key: Schema.optionalKey(Schema.String)
  },
  (error) => {
    if (error.key !== undefined) return `the stored job ${Printable.escape(error.key)} is damaged: ${error.description}`
    const where = error.path === undefined ? "" : ` ${Printable.escape(error.path)}`
    return `the database of the jobs${where} failed (${error.operation}): ${error.description}`
  }
) {}

/**
 * Another process has opened the database of `DurableSqlite.layer`. Stop that process, or use Postgres.
 *
 * @since 0.1.0
 * @category errors
 */
export class DatabaseInUse extends Expected.TaggedError<DatabaseInUse>()(
  "DatabaseInUse",
  { path: Schema.String },
  (error) =>
    `another process has opened ${Printable.escape(error.path)}; stop that process, or run jobs on several machines with DurablePostgres`
) {}

/**
 * The secret of the deployment is missing or cannot be used.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidSecret extends Expected.TaggedError<InvalidSecret>()(
  "InvalidSecret",
  { description: Schema.String },
  (error) => `the secret of the deployment is invalid: ${error.description}`
) {}
