/**
 * The errors of an upload journal.
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const remedies = {
  Full: "; free some space, and run the upload again",
  Denied: "; make the journal writable, and run the upload again",
  Other: ""
} as const

/**
 * The journal could not be read or written, for example because the disk was full, a permission was missing, or the
 * store did not exist. After this error, the upload sends nothing more. Repair the store and run the upload again.
 * `reason` is `Full` if no space or no quota was left, and `Denied` if the store is read-only or a permission is missing.
 *
 * @since 0.1.0
 * @category errors
 */
export class JournalFailed extends Expected.TaggedError<JournalFailed>()(
  "JournalFailed",
  {
    action: Schema.Literals(["read", "write", "remove", "list", "lease"]),
    description: Schema.String,
    reason: Schema.Literals(["Full", "Denied", "Other"]).pipe(
      Schema.withConstructorDefault(Effect.succeed("Other" as const))
    )
  },
  (error) => `the upload journal: cannot ${error.action}: ${error.description}${remedies[error.reason]}`
) {}

/**
 * An entry of the journal is invalid: damaged, edited, or written by another program. `UploadJournal.forget` removes
 * the entry. The next run then starts a new upload, or creates a new Assembly if the entry belonged to a job.
 *
 * @since 0.1.0
 * @category errors
 */
export class JournalTorn extends Expected.TaggedError<JournalTorn>()(
  "JournalTorn",
  { key: Schema.String, description: Schema.String },
  (error) =>
    `the upload journal: the entry ${error.key} is invalid: ${error.description}; remove the entry with forget, and run the upload again`
) {}

/**
 * Another process or fiber holds the lease of the same upload or job. This lease ends at `until`, in milliseconds since
 * 1970, unless its holder renews the lease. If the store uses locks, such as Web Locks, the lock may be held beyond
 * `until`. Run the upload or the job again after `until`.
 *
 * @since 0.1.0
 * @category errors
 */
export class UploadLeased extends Expected.TaggedError<UploadLeased>()(
  "UploadLeased",
  { key: Schema.String, until: Schema.Finite },
  (error) => `another process runs the upload ${error.key}; run the upload again when that process has ended`
) {}

/**
 * The lease was lost during the upload, for example because it could not be renewed in time or another process took it.
 * When the upload detects the loss, it stops and sends nothing more. Run the upload again: the new run waits for the
 * other process, or continues the upload.
 *
 * @since 0.1.0
 * @category errors
 */
export class LeaseLost extends Expected.TaggedError<LeaseLost>()(
  "LeaseLost",
  { key: Schema.String, description: Schema.String },
  (error) => `the lease of the upload ${error.key} was lost: ${error.description}; run the upload again to continue`
) {}

/**
 * The journal has no entry of an upload with this key, or the entry has expired. `UploadJournal.list` lists the keys.
 *
 * @since 0.1.0
 * @category errors
 */
export class NoSuchUpload extends Expected.TaggedError<NoSuchUpload>()(
  "NoSuchUpload",
  { key: Schema.String },
  (error) => `the upload journal has no upload ${error.key}; start the upload with Upload.run`
) {}

/**
 * The errors of the journal, except {@link NoSuchUpload}.
 *
 * @since 0.1.0
 * @category errors
 */
export type JournalError = JournalFailed | JournalTorn | UploadLeased | LeaseLost

/** The errors of the journal that a run of an upload may meet. */
export const errors = [JournalFailed, JournalTorn, UploadLeased, LeaseLost] as const
