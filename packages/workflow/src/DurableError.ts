/**
 * The errors of durable jobs.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as DurableJob from "./DurableJob.ts"

/**
 * Another job with this key is in the database: its params or files differ. Use another key, or wait until the job has
 * been removed.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobConflict extends Schema.TaggedError<JobConflict>()("JobConflict", { key: Schema.String }) {
  override get message() {
    return `the key ${this.key} belongs to a job with other params or files; use another key`
  }
}

/**
 * No job with this key is in the database. The job was never started, or it ended and was removed.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobUnknown extends Schema.TaggedError<JobUnknown>()("JobUnknown", { key: Schema.String }) {
  override get message() {
    return `no job has the key ${this.key}; start the job`
  }
}

/**
 * The job failed. `Durable.retry` starts its next attempt.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobFailed extends Schema.TaggedError<JobFailed>()("JobFailed", {
  key: Schema.String,
  attempt: Schema.Int,
  failure: DurableJob.Failure
}) {
  override get message() {
    return `the job ${this.key} failed in attempt ${this.attempt}: ${this.failure.reason}: ${this.failure.message}; start the next attempt with Durable.retry`
  }
}

/**
 * The job was canceled. `Durable.retry` starts its next attempt.
 *
 * @since 0.1.0
 * @category errors
 */
export class JobCanceled extends Schema.TaggedError<JobCanceled>()("JobCanceled", {
  key: Schema.String,
  attempt: Schema.Int
}) {
  override get message() {
    return `the job ${this.key} was canceled in attempt ${this.attempt}; start the next attempt with Durable.retry`
  }
}

/**
 * The job cannot be retried, because it has not failed and was not canceled.
 *
 * @since 0.1.0
 * @category errors
 */
export class NotRetryable extends Schema.TaggedError<NotRetryable>()("NotRetryable", {
  key: Schema.String,
  state: DurableJob.State
}) {
  override get message() {
    return `the job ${this.key} cannot be retried in the state ${this.state}; only a job that is Failed or Canceled has a next attempt`
  }
}

/**
 * The database of the jobs cannot be read or written.
 *
 * @since 0.1.0
 * @category errors
 */
export class StoreFailed extends Schema.TaggedError<StoreFailed>()("StoreFailed", {
  operation: Schema.String,
  problem: Schema.String
}) {
  override get message() {
    return `the database of the jobs failed (${this.operation}): ${this.problem}`
  }
}

/**
 * Another process has opened the database of an embedded runner. Stop that process, or use Postgres.
 *
 * @since 0.1.0
 * @category errors
 */
export class DatabaseInUse extends Schema.TaggedError<DatabaseInUse>()("DatabaseInUse", { path: Schema.String }) {
  override get message() {
    return `another process has opened ${this.path}; stop that process, or run jobs on several machines with DurablePostgres`
  }
}

/**
 * The secret of the deployment is missing or cannot be used.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidSecret extends Schema.TaggedError<InvalidSecret>()("InvalidSecret", { problem: Schema.String }) {
  override get message() {
    return `the secret of the deployment is invalid: ${this.problem}`
  }
}
