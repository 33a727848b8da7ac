/**
 * Validates options before anything is created: an Assembly, a journal entry or an upload.
 */
import * as Digests from "@assembly-effect/auth/unstable/Digests"
import { InvalidRequest, type Issue } from "@assembly-effect/schema/InvalidRequest"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import type { UploadTarget } from "../UploadTarget.ts"
import type { Emit } from "./events.ts"
import type { Replayable, UploadSource } from "./source.ts"

type Issues = ReadonlyArray<Issue>

/** The names of the checksum algorithms in the header `upload-checksum` (tus 1.0.0). */
const Algorithm = Schema.Literals(["sha1", "sha256", "sha384", "sha512"])

/** The options of the requests of an upload. */
const Requests = Schema.Struct({
  maxRetries: Schema.optional(Rules.whole(0)),
  retryDelay: Schema.optional(Rules.pause),
  stallTimeout: Schema.optional(Rules.duration),
  finishTimeout: Schema.optional(Rules.duration),
  maxWait: Schema.optional(Rules.pause),
  chunkSize: Schema.optional(Rules.whole(1)),
  checksum: Schema.optional(Algorithm)
})

/** The options that the uploads of a job share. */
const Shared = Schema.Struct({ ...Requests.fields, parallel: Schema.optional(Rules.whole(1)) })

/** The options of every function except `metadata`, in one Schema, because all are checked alike. */
const Settings = Schema.Struct({
  ...Shared.fields,
  progressInterval: Schema.optional(Rules.pause),
  restart: Schema.optional(Schema.Boolean),
  size: Schema.optional(Schema.BigInt),
  onFailure: Schema.optional(Schema.Literals(["terminate", "keep"]))
})

/**
 * The metadata of an upload: `filename`, `fieldname`, and other keys for the Steps of the Assembly.
 *
 * @since 0.1.0
 * @category models
 */
export type Metadata = { readonly filename: string; readonly fieldname: string } & Readonly<
  Record<string, string | null>
>

/**
 * The options of the requests of an upload.
 *
 * - `maxRetries`: the maximum number of consecutive failures that are retried; progress resets the count. The default
 *   is 8, or the limit of a `RetryPolicy` that the program provides.
 * - `retryDelay`: the maximum pause after the first failure, 500 ms by default. Each further failure doubles this
 *   maximum, up to 30 seconds. Each pause is random, and at least half of its maximum. If the server requests a pause,
 *   the upload pauses at least that long. A provided `RetryPolicy` has its own pauses.
 * - `stallTimeout`: the maximum time without progress in a request, 30 seconds by default. Receipts of the Assembly
 *   (`tus_uploads`) that arrive after this time are ignored.
 * - `finishTimeout`: the maximum time that the server may take to respond after the last byte of a request, or to
 *   concatenate the parts, 10 minutes by default. If a small source is sent with the creation, the time starts when
 *   this request is sent.
 * - `maxWait`: the longest pause that a server may request. The default is 1 hour, or the limit of a provided
 *   `RetryPolicy`. If the server requests a longer pause, the upload fails with the error of that response, whose
 *   `retryAfter` is the pause. With a `Budget`, the pause of a rate limit (429) has no maximum.
 * - `chunkSize`: the maximum size of one request body, in bytes. By default a source that can be read again is sent in
 *   one request, and a one-shot stream in requests of at most 8 MiB. If request bodies are not streamed, the default
 *   is 8 MiB for every source; see `CanStream`.
 * - `checksum`: sends each body with its checksum, if the server supports the algorithm. Bytes that the server reports
 *   as changed in transit (460) are sent again. With checksums, bodies are held in memory, `chunkSize` is 8 MiB by
 *   default, and small sources are not sent with the creation. If the server does not support the algorithm, no
 *   checksum is sent; see `Tus.discover`. By default no checksum is sent.
 *
 * `withPolicy`, `none`, `layer` and `layerNone` of `@assembly-effect/api/RetryPolicy` set the retry policy of uploads
 * too, within the limits of `maxRetries` and `maxWait`.
 *
 * @since 0.1.0
 * @category options
 */
export interface RequestOptions extends Schema.Codec.Encoded<typeof Requests> {}

/**
 * The options that the uploads of a job share: {@link RequestOptions}, and:
 *
 * - `parallel`: the maximum number of parts, each of at least 1 MiB, that are uploaded in parallel and concatenated by
 *   the server. With a number above 1, the source must be a `Replayable`. The default is 1.
 *
 * @since 0.1.0
 * @category options
 */
export interface SharedOptions extends Schema.Codec.Encoded<typeof Shared> {}

/**
 * The options of an upload: {@link SharedOptions}, and:
 *
 * - `metadata`: `filename` and `fieldname`, and other keys for the Steps of the Assembly.
 * - `progressInterval`: the minimum time between two `Progress` events. If another event follows earlier, the newest
 *   `Progress` that is still held back is emitted before this event. By default every `Progress` is emitted.
 * - `restart`: starts a new upload. If the journal has an earlier upload, that upload is discarded, and `Restarted` is
 *   emitted. False by default. Use `restart` after `UploadUntrusted`, or to upload the same bytes to the same Assembly
 *   twice. An untrusted upload is removed from the server. An incomplete upload is removed too, unless the server may
 *   already have concatenated its parts. If the removal fails, the call fails; an upload that is already gone (404 or
 *   410) counts as removed. A complete upload stays on the server. Set `restart` for one call only, because each call
 *   with `restart` starts a new upload. Without a journal, every call starts a new upload.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends ResumeOptions {
  readonly metadata: Metadata
}

/**
 * The options of `Upload.resume`: those of {@link Options} without `metadata`. `parallel` and `restart` have an effect
 * only for an upload of the journal.
 *
 * @since 0.1.0
 * @category options
 */
export interface ResumeOptions extends SharedOptions {
  readonly progressInterval?: RequestOptions["retryDelay"]
  readonly restart?: boolean | undefined
}

/**
 * One upload: its source, its target and its options. `emit` gets its events, and never makes the upload wait.
 *
 * @since 0.1.0
 * @category models
 */
export interface Given<O = Options> {
  readonly target: UploadTarget
  readonly source: UploadSource
  readonly options: O
  readonly emit: Emit
}

const issue = (path: string, message: string): Issue => ({ path: [path], message })

/** The issue of a rule, if it is broken. */
export const broken = (isBroken: boolean, path: Issue["path"], message: string): Issues =>
  isBroken ? [{ path, message }] : []

const checkSettings = Rules.checker(Settings)

/** The rules that the options of an upload break, except those of its metadata and of {@link missingDigest}. */
export const settingIssues = (options: object): Issues => {
  if (!Input.isRecord(options)) return [{ path: [], message: "Expected an object" }]
  const keys = Object.keys(options).filter((key) => key !== "metadata")
  // Options with metadata alone need no check.
  if (keys.length === 0) return []
  const unknown = keys.filter((key) => !Object.hasOwn(Settings.fields, key))
  return [...unknown.map((key) => issue(key, "Unknown key")), ...checkSettings(options)]
}

const encodeMetadata = SchemaParser.encodeUnknownResult(TusUpload.Metadata, { errors: "all" })

/** The metadata key of the marker: a value that is unique for each creation. */
export const markerKey = "upload_marker"

/** The metadata keys that an option may not set, because an upload sets them itself, each with the reason. */
const reserved = {
  assembly_url: "the target sets its value",
  [markerKey]: "its value identifies an upload after a lost response"
}

/** The entry of the encoded metadata that each creation replaces by the URL of its Assembly. */
const placeholder = /^assembly_url LQ==,/

const issuesOf = (result: Result.Result<unknown, Issues>): Issues =>
  Result.match(result, { onFailure: (issues) => issues, onSuccess: () => [] })

/**
 * The metadata as the end of the header `upload-metadata`, without `assembly_url`, or the rules that the metadata
 * breaks. The issues do not contain the values, because the values may be secret.
 */
export const metadataHeader = (metadata: Metadata): Result.Result<string, Issues> => {
  if (!Input.isRecord(metadata)) return Result.fail([issue("metadata", "Expected an object")])
  const taken = Object.entries(reserved).flatMap(([key, why]) =>
    broken(Object.hasOwn(metadata, key), ["metadata", key], `Expected no reserved key: ${why}`)
  )
  const encoded = Result.mapError(encodeMetadata({ ...metadata, assembly_url: "-" }), (found) =>
    Input.fromSchemaIssue(found, ["metadata"])
  )
  return taken.length > 0
    ? Result.fail([...taken, ...issuesOf(encoded)])
    : Result.map(encoded, (header) => header.replace(placeholder, ""))
}

/** The rules that the metadata of an upload breaks. */
export const metadataIssues = (metadata: Metadata): Issues => issuesOf(metadataHeader(metadata))

const largest = 2n ** 63n - 1n

/** In a JavaScript program, a size may be any value. */
const isSize = (size: unknown): boolean => typeof size === "bigint" && size >= 0n && size <= largest

const oneShot = "Expected a source that can be read again, got a one-shot stream"

/** The source, which {@link sourceIssues} has already checked where a source must be replayable. */
export const replayable = (source: UploadSource): Effect.Effect<Replayable, InvalidRequest> =>
  source._tag === "Replayable"
    ? Effect.succeed(source)
    : Effect.fail(new InvalidRequest({ operation: "Upload", issues: [issue("source", oneShot)] }))

/** In a JavaScript program, a source may be any value, such as a path, bytes, or the Effect of `fromPath`. */
const isSource = (source: unknown): source is UploadSource =>
  (Predicate.isTagged(source, "Replayable") && Predicate.hasProperty(source, "bytes")) ||
  (Predicate.isTagged(source, "OneShot") && Predicate.hasProperty(source, "stream"))

/** The rules that a source breaks. `isReplayed` says whether a later run reads the source again. */
export const sourceIssues = (
  source: UploadSource,
  { isReplayed, parallel }: { readonly isReplayed: boolean; readonly parallel?: number | undefined }
): Issues => {
  if (!isSource(source)) return [issue("source", "Expected an UploadSource, such as UploadSource.fromBytes(bytes)")]
  if (Predicate.hasProperty(source, "description")) return [issue("source", String(source.description))]
  const isOnce = source._tag === "OneShot"
  const isSized = isSize(source.size) || (isOnce && source.size === undefined)
  return [
    ...broken(!isSized, ["source", "size"], `Expected 0 to ${largest} bytes, got ${source.size}`),
    ...broken(isOnce && isReplayed, ["source"], oneShot),
    ...broken(isOnce && parallel !== undefined && parallel !== 1, ["parallel"], oneShot)
  ]
}

/**
 * The rules that the options and the metadata of an upload break, each with the path of the field, except the rule of
 * {@link missingDigest}.
 *
 * @since 0.1.0
 * @category running
 */
export const issues = (options: RequestOptions, metadata: Metadata): ReadonlyArray<Issue> => [
  ...settingIssues(options),
  ...metadataIssues(metadata)
]

/** Fails with all broken rules at once. */
export const refuse = (operation: string, found: Issues): Effect.Effect<void, InvalidRequest> =>
  found.length === 0 ? Effect.void : Effect.fail(new InvalidRequest({ operation, issues: found }))

/** An issue if `checksum` is set and this runtime cannot compute it. */
export const missingDigest = (checksum: string | undefined): Effect.Effect<Issues> =>
  checksum === undefined
    ? Effect.succeed([])
    : Effect.map(Digests.isAvailable, (isThere) =>
        isThere ? [] : [issue("checksum", `Expected no checksum: ${Digests.unavailable}`)]
      )

/**
 * Fails if the options or the source of an upload break a rule. Returns the metadata as a header, see
 * {@link metadataHeader}.
 */
export const check = (source: UploadSource, options: Partial<Options>, isReplayed: boolean) => {
  const header = options?.metadata === undefined ? Result.succeed(undefined) : metadataHeader(options.metadata)
  const found = [...settingIssues(options), ...issuesOf(header), ...sourceIssues(source, { ...options, isReplayed })]
  return Effect.flatMap(missingDigest(options?.checksum), (missing) =>
    Effect.as(refuse("Upload", [...found, ...missing]), Result.getOrUndefined(header))
  )
}
