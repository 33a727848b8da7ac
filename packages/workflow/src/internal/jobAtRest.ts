/** A job as the database stores it. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Assembly from "@assembly-effect/schema/Assembly"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import type { RequestOptions } from "@assembly-effect/tus/Upload"
import * as Arr from "effect/Array"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as DurableJob from "../DurableJob.ts"
import { KeyText } from "./keyText.ts"
import { damaged } from "./database.ts"
import { resolve } from "node:path"

const File = Schema.Struct({
  source: DurableJob.Source,
  filename: Schema.NonEmptyString,
  fieldname: Schema.optional(Schema.NonEmptyString),
  metadata: Schema.optional(Schema.Record(Schema.String, Schema.NullOr(Schema.String)))
})

/** The params and the files of a job, without its key. */
const JobAtRest = Schema.Struct({
  params: Assembly.CreateParams,
  files: Schema.Array(File).check(Schema.isMinLength(1))
})

/** The size of a source in bytes, and the SHA-256 of its identity, when the attempt was queued. */
export const SourceAtRest = Schema.Struct({
  size: Schema.String.check(Schema.isPattern(/^\d{1,40}$/)),
  identity: Schema.String
})
export type SourceAtRest = typeof SourceAtRest.Type

export const Sources = Schema.fromJsonString(Schema.Array(SourceAtRest))

const Key = KeyText.check(Schema.isMinLength(1))

/** Whether a text is a valid key of a job. An invalid key is not looked up, because a database may refuse the text. */
export const isKey = SchemaParser.is(Key)
const decodeJob = SchemaParser.decodeUnknownEffect(Schema.fromJsonString(JobAtRest))

/**
 * Finds the values that cannot be stored: `Redacted` values, which the database would contain in plain text; values
 * that contain themselves; and values that are nested too deeply.
 */
const unstorable = (
  value: unknown,
  path: ReadonlyArray<string | number>,
  outside: ReadonlyArray<object> = []
): ReadonlyArray<Issue> => {
  if (Redacted.isRedacted(value)) {
    return [{ path, message: "Expected no Redacted value, because a job is stored in plain text" }]
  }
  if (typeof value !== "object" || value === null) return []
  if (outside.includes(value)) return [{ path, message: "Expected a value that does not contain itself" }]
  if (outside.length >= Json.maxDepth) {
    return [{ path: path.slice(0, 3), message: `Expected at most ${Json.maxDepth} values inside one another` }]
  }
  return Object.entries(value).flatMap(([name, inner]) =>
    unstorable(inner, [...path, Array.isArray(value) ? Number(name) : name], [...outside, value])
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
const metadataOf = ({ fieldname = "file", filename, metadata }: DurableJob.File) => ({
  ...metadata,
  filename,
  fieldname
})

/**
 * Makes the paths of the files absolute. In a process with another working directory, a relative path would lead to
 * another file.
 */
const absolute = (files: ReadonlyArray<DurableJob.File>): ReadonlyArray<DurableJob.File> =>
  files.map((file) =>
    file.source._tag === "Path" ? { ...file, source: DurableJob.path(resolve(file.source.path)) } : file
  )

/** A job as the database stores it, and the files of the job. The paths of the files are absolute. */
export interface Text {
  readonly text: string
  readonly files: ReadonlyArray<DurableJob.File>
}

const toText = (job: typeof JobAtRest.Encoded): Text => {
  const files = absolute(job.files)
  return { text: canonical({ params: job.params, files }), files }
}

/** Puts a path before the paths of issues. */
export const under = (path: Issue["path"], issues: ReadonlyArray<Issue>): ReadonlyArray<Issue> =>
  issues.map((issue) => ({ message: issue.message, path: [...path, ...issue.path] }))

/** The params and the files of a stored job, as JSON. */
const Parts = Schema.fromJsonString(Schema.Struct({ params: Schema.Json, files: Schema.Array(Schema.Json) }))
export type Parts = typeof Parts.Type
export const decodeParts = SchemaParser.decodeUnknownResult(Parts)

/** The text of the pack of jobs with equal params. */
export const join = (jobs: Arr.NonEmptyReadonlyArray<Parts>): string =>
  canonical({ params: Arr.headNonEmpty(jobs).params, files: jobs.flatMap(({ files }) => files) })

const encodeJob = Input.encoder(Schema.Struct({ key: Key, ...JobAtRest.fields }))

/** The issues that the schema does not find. */
const furtherIssues = (
  { files, params }: DurableJob.Job,
  upload: RequestOptions,
  now: DateTime.Utc
): ReadonlyArray<Issue> => [
  ...under(["params"], Assemblies.Create.check?.(params, now) ?? []),
  ...files.flatMap((file, index) => under(["files", index], Hosting.issues(upload, metadataOf(file))))
]

/** Checks a job, and encodes it for the database. The error names `operation`, and every field that is wrong. */
export const encode = Effect.fnUntraced(function* (operation: string, job: DurableJob.Job, upload: RequestOptions) {
  const now = DateTime.makeUnsafe(yield* Clock.currentTimeMillis)
  const found = unstorable(job, [])
  const encoded = encodeJob(job)
  const others = Result.isFailure(encoded) ? encoded.failure : furtherIssues(job, upload, now)
  const isNew = ({ path }: Issue) => found.every((one) => one.path.join(".") !== path.join("."))
  const issues = [...found, ...others.filter(isNew)]
  if (issues.length > 0 || Result.isFailure(encoded)) return yield* new InvalidRequest({ operation, issues })
  return toText(encoded.success)
})

/** Decodes a stored job. */
export const decode = ({ job, key }: { readonly key: string; readonly job: string }) =>
  Effect.mapError(decodeJob(job), () => damaged(key, ["job"]))
