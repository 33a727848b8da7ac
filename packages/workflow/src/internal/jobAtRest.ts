/** A job as the database stores it. Later versions must be able to decode this form, see `DurableJob`. */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Input from "@assembly-effect/api/unstable/Input"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as UploadSteps from "@assembly-effect/tus/UploadSteps"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as DurableJob from "../DurableJob.ts"
import type { UploadOptions } from "../Durable.ts"

const File = Schema.Struct({
  source: DurableJob.Source,
  filename: Schema.NonEmptyString,
  fieldname: Schema.optional(Schema.NonEmptyString),
  metadata: Schema.optional(Schema.Record(Schema.String, Schema.NullOr(Schema.String)))
})

/** The params and the files of a job, without its key. */
export const JobAtRest = Schema.Struct({
  params: Assembly.CreateParams,
  files: Schema.Array(File).check(Schema.isMinLength(1))
})
export type JobAtRest = typeof JobAtRest.Type

/** The size of a source in bytes, and what identifies its content, when the attempt was queued. */
export const SourceAtRest = Schema.Struct({ size: Schema.String, identity: Schema.String })
export type SourceAtRest = typeof SourceAtRest.Type

export const Sources = Schema.fromJsonString(Schema.Array(SourceAtRest))

/** For each file, how often the creation of its upload was announced. */
export const Creations = Schema.fromJsonString(Schema.Array(Schema.Int))

const Key = Schema.NonEmptyString.check(
  Schema.isMaxLength(255),
  // Databases replace a lone surrogate by another character, so the stored key would differ.
  Schema.isPattern(/^[^\p{Cc}\p{Cs}]*$/u, { expected: "valid Unicode without control characters" })
)

const encodeKey = SchemaParser.encodeUnknownEffect(Key)
const encodeJob = SchemaParser.encodeUnknownEffect(JobAtRest, { errors: "all" })
const decodeJob = SchemaParser.decodeUnknownEffect(Schema.fromJsonString(JobAtRest))

const operation = "Durable.start"

/** One issue for each `Redacted` value in a job, because the job is stored in plain text. */
const secretsIn = (value: unknown, path: ReadonlyArray<string | number> = []): ReadonlyArray<ApiError.Issue> => {
  if (Redacted.isRedacted(value)) {
    return [{ path, message: "Expected no Redacted value, because a job is stored in plain text" }]
  }
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    secretsIn(inner, [...path, Array.isArray(value) ? Number(name) : name])
  )
}

/** The same JSON text for the same value, whatever the order of its keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner
  )

/** The metadata of the upload of a file. */
export const metadataOf = ({ fieldname = "file", filename, metadata }: DurableJob.File) => ({
  ...metadata,
  filename,
  fieldname
})

const refuse = (issues: ReadonlyArray<ApiError.Issue>): Effect.Effect<void, ApiError.InvalidRequest> =>
  issues.length === 0 ? Effect.void : Effect.fail(new ApiError.InvalidRequest({ operation, issues }))

/** Checks a job, and encodes the job in its stored form. */
export const encode = Effect.fnUntraced(function* (job: DurableJob.Job, upload: UploadOptions) {
  yield* refuse(secretsIn({ params: job.params, files: job.files }))
  yield* Effect.mapError(
    encodeKey(job.key),
    (issue) => new ApiError.InvalidRequest({ operation, issues: Input.fromSchemaIssue(issue, ["key"]) })
  )
  const encoded = yield* Effect.mapError(encodeJob({ params: job.params, files: job.files }), (issue) =>
    Input.invalidRequest(operation, issue)
  )
  const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
  yield* refuse(
    (Assemblies.Create.check?.(job.params, now) ?? []).map(({ message, path }) => ({
      message,
      path: ["params", ...path]
    }))
  )
  yield* refuse(
    job.files.flatMap((file, index) =>
      UploadSteps.issues({ ...upload, metadata: metadataOf(file) }).map(({ message, path }) => ({
        message,
        path: ["files", index, ...path]
      }))
    )
  )
  return canonical(encoded)
})

/** Decodes a stored job. A failure is a defect, because only this package writes the table. */
export const decode = (stored: string): Effect.Effect<JobAtRest> => Effect.orDie(decodeJob(stored))
