/**
 * Validates options before anything is created: an Assembly, a journal entry or an upload.
 */
import * as Schema from "effect/Schema"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as TusUpload from "@assembly-effect/schema/TusUpload"
import * as Input from "@assembly-effect/schema/unstable/Input"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as SchemaParser from "effect/SchemaParser"
import type { UploadSource } from "../UploadSource.ts"
import * as Checksum from "./checksum.ts"
import * as Receipts from "./receipts.ts"
import type { Options as SessionOptions } from "./session.ts"
import * as Subtle from "./subtle.ts"

type Issues = ReadonlyArray<Issue>

const issue = (path: string, message: string): Issue => ({ path: [path], message })

const encodeMetadata = SchemaParser.encodeUnknownResult(TusUpload.Metadata, { errors: "all" })

/** The metadata keys that an option may not set, because an upload sets them itself, each with the reason. */
const reserved = {
  assembly_url: "the target sets its value",
  [Receipts.markerKey]: "its value identifies an upload after a lost response"
}

/**
 * The rules that the metadata of an upload breaks. The issues do not contain the values, because the values may be
 * secret.
 */
const metadataIssues = (metadata: Readonly<Record<string, string | null>>): Issues => {
  const taken = Object.entries(reserved)
    .filter(([key]) => Object.hasOwn(metadata, key))
    .map(([key, why]): Issue => ({ path: ["metadata", key], message: `Expected no reserved key: ${why}` }))
  const broken = Result.match(encodeMetadata({ ...metadata, assembly_url: "-" }), {
    onFailure: Input.fromSchemaIssue,
    onSuccess: (): Issues => []
  })
  return [...taken, ...broken.map(({ message, path }) => ({ message, path: ["metadata", ...path] }))]
}

const largest = 2n ** 63n - 1n

/** In a JavaScript program, a size may be any value. */
const isSize = (size: unknown): boolean => typeof size === "bigint" && size >= 0n && size <= largest

const replayable = (path: string) => issue(path, "Expected a source that can be read again, got a one-shot stream")

/** In a JavaScript program, a source may be any value, such as a path, bytes, or the Effect of `fromPath`. */
const isSource = (source: unknown): source is UploadSource =>
  (Predicate.isTagged(source, "Replayable") && Predicate.hasProperty(source, "bytes")) ||
  (Predicate.isTagged(source, "OneShot") && Predicate.hasProperty(source, "stream"))

const sourceIssues = (source: UploadSource | undefined, { isReplayed, parallel }: Upload): Issues => {
  if (!isSource(source)) return [issue("source", "Expected an UploadSource, such as UploadSource.fromBytes(bytes)")]
  if (Predicate.hasProperty(source, "description")) return [issue("source", String(source.description))]
  return [
    ...((source._tag === "Replayable" || source.size !== undefined) && !isSize(source.size)
      ? [{ path: ["source", "size"], message: `Expected 0 to ${largest} bytes, got ${source.size}` }]
      : []),
    ...(source._tag === "OneShot" && isReplayed === true ? [replayable("source")] : []),
    ...(source._tag === "OneShot" && parallel !== undefined && parallel !== 1 ? [replayable("parallel")] : [])
  ]
}

/** The options of one upload, its source if known, and whether a later run reads the source again. */
export type Upload = Partial<SessionOptions> & {
  readonly parallel?: number | undefined
  readonly progressInterval?: Duration.Input | undefined
  readonly source?: UploadSource | undefined
  readonly isReplayed?: boolean | undefined
}

const settingIssues = Rules.checker(
  Schema.Struct({
    chunkSize: Schema.optional(Rules.whole(1)),
    parallel: Schema.optional(Rules.whole(1)),
    maxRetries: Schema.optional(Rules.whole(0)),
    retryDelay: Schema.optional(Rules.pause),
    stallTimeout: Schema.optional(Rules.duration),
    finishTimeout: Schema.optional(Rules.duration),
    maxWait: Schema.optional(Rules.pause),
    progressInterval: Schema.optional(Rules.pause)
  })
)

/** The rules that the options of an upload break, except the rule of {@link missingDigest}. */
export const issues = ({ checksum, metadata, ...options }: Upload): Issues => [
  ...settingIssues(options),
  ...(checksum === undefined || Checksum.isAlgorithm(checksum)
    ? []
    : [issue("checksum", `Expected ${Checksum.names.join(", ")}, got ${String(checksum)}`)]),
  ...(metadata === undefined ? [] : metadataIssues(metadata)),
  ...("source" in options ? sourceIssues(options.source, options) : [])
]

/** Fails with all broken rules at once. */
export const refuse = (operation: string, found: Issues): Effect.Effect<void, InvalidRequest> =>
  found.length === 0 ? Effect.void : Effect.fail(new InvalidRequest({ operation, issues: found }))

/** An issue if `checksum` is set and this runtime cannot compute it. */
export const missingDigest = ({ checksum }: Pick<Upload, "checksum">): Effect.Effect<Issues> =>
  Effect.map(Subtle.isAvailable, (isThere) =>
    checksum === undefined || isThere ? [] : [issue("checksum", `Expected no checksum: ${Subtle.problem}`)]
  )

/** Fails if the options of an upload break a rule. */
export const check = (options: Upload): Effect.Effect<void, InvalidRequest> =>
  Effect.flatMap(missingDigest(options), (missing) => refuse("Upload", [...issues(options), ...missing]))
