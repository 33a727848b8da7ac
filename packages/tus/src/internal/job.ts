/**
 * The types of a job: an Assembly with its files. `AssemblyUpload` runs jobs.
 */
import type * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Creation from "@assembly-effect/api/unstable/Creation"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type * as Cause from "effect/Cause"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { AssemblyUploadError, DeliveryMismatch } from "./jobError.ts"
import * as UploadOptions from "./options.ts"
import { broken, type SharedOptions } from "./options.ts"
import type { UploadSource, SourceFailed } from "./source.ts"

/**
 * One file of a job. `source` is an `UploadSource`, or an Effect that makes an `UploadSource`, such as
 * `UploadSource.fromPath`. An Effect in `source` runs before the Assembly is created; the bytes of a file are read when
 * its upload starts. With a journal, every source must be a `Replayable`; if the `identity` of a source is undefined, the
 * whole source is also read before the Assembly is created. `fieldname` is `file` by default.
 *
 * @since 0.1.0
 * @category models
 */
export interface File<R = never> {
  readonly source: UploadSource | Effect.Effect<UploadSource, SourceFailed, R>
  readonly filename: string
  readonly fieldname?: string | undefined
  readonly metadata?: Readonly<Record<string, string | null>> | undefined
}

/**
 * A file that was uploaded. `fieldname` is `file` by default. `url` is the URL of the upload. `url` is absent if the
 * Assembly had already completed when the run started.
 *
 * @since 0.1.0
 * @category models
 */
export interface Delivered {
  readonly filename: string
  readonly fieldname?: string | undefined
  readonly url?: Redacted.Redacted | undefined
}

/**
 * Proves that the service has the files of one job. The job uploads `sources` instead of its own sources, so that the
 * proof sees the bytes that are read. `check` compares the Status of the completed Assembly with the bytes that were
 * read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Proof {
  readonly sources: ReadonlyArray<UploadSource>
  readonly check: (
    status: Assembly.Status,
    files: ReadonlyArray<Delivered>
  ) => Effect.Effect<void, DeliveryMismatch | SourceFailed>
}

/**
 * A function that makes the proof of one job from the sources of its files. `DeliveryProof.md5` is such a function.
 *
 * @since 0.1.0
 * @category models
 */
export type Verify = (sources: ReadonlyArray<UploadSource>) => Effect.Effect<Proof>

/** Proves nothing. */
export const unproven: Verify = (sources) => Effect.succeed({ sources, check: () => Effect.void })

const Settings = Schema.Struct({
  transport: Schema.optional(Schema.Literals(["tus", "form"])),
  resend: Schema.optional(Schema.Boolean),
  concurrency: Schema.optional(Schema.Union([Schema.Literal("unbounded"), Rules.whole(1)])),
  onFailure: Schema.optional(Schema.Literals(["cancel", "keep"])),
  cancelOnInterrupt: Schema.optional(Schema.Boolean),
  restart: Schema.optional(Schema.Boolean),
  progressInterval: Schema.optional(Rules.pause)
})

/**
 * The options of a job.
 *
 * - `params`: the params of the request that creates the Assembly. The job adds the number of files to these params.
 * - `transport`: how the service gets the files. By default (`tus`), each file is an upload, which continues after a
 *   failure. `form` sends the files inside the request that creates the Assembly: one request instead of three for a
 *   small file. A form cannot be continued. It has at most 8 MiB of files, which are read into memory before the request
 *   and whose sources can be read again, and no `metadata`, `upload`, `concurrency` and `onFailure`. Quotation marks, backslashes and control characters are not
 *   permitted in its names. After a lost response, the id of the Assembly decides. `verify` is `DeliveryProof.md5` by
 *   default. If the request breaks, the job fails with `FormBroken`.
 * - `resend`: sends a form that broke again, as often as the `RetryPolicy` of a safe operation permits; false by
 *   default. After an aborted Assembly the form has a new id, and each earlier id is in an event (`Resent`) and in the
 *   `Outcome`. The Steps of earlier Assemblies may have run, but only one Assembly completes.
 * - `concurrency`: the maximum number of concurrent uploads, 4 by default, or `"unbounded"`.
 * - `upload`: the options of each upload, see `Upload.SharedOptions`.
 * - `onFailure`: what happens to the Assembly if a file fails permanently, or if the Status names no permitted URL for
 *   the uploads (`InvalidTarget`). `cancel` cancels the Assembly and stops the uploads of the other files. `keep`
 *   uploads the other files, and the Assembly waits for the missing files. After a defect in an upload, or if the server
 *   may treat wrong bytes as a complete file (`UploadUntrusted` with `mayBeWhole`), the Assembly is always canceled. The
 *   default is `cancel`; with a journal it is `keep`, so that the next run continues the Assembly.
 * - `cancelOnInterrupt`: whether an interruption of the job cancels the Assembly; false by default. With a journal, an
 *   interruption keeps the Assembly for the next run.
 * - `restart`: with a journal, cancels the Assembly in the journal and creates a new one. False by default. If the
 *   Assembly cannot be canceled, the call fails and nothing is created. If `params` contains the `assemblyId` of the
 *   Assembly in the journal, the call fails with `InvalidRequest`, and nothing is canceled. Set `restart` for one call
 *   only, because each call with `restart` creates a new Assembly.
 * - `progressInterval`: the minimum time between two `Progress` events of the job, see `Upload.Options`. The events of
 *   single files emit no `Progress` that is still held back. By default there is no minimum.
 * - `wait`: the options of the wait for the results, or false to return when the last byte is stored.
 * - `verify`: a check of the Status of the completed Assembly. `DeliveryProof.md5` compares the size and the MD5 of
 *   each uploaded file in the Status with the bytes that were read. If a size or an MD5 differs or is missing, the job
 *   fails with `DeliveryMismatch`. By default nothing is compared. `verify` cannot be combined with `wait: false`.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options<R = never> extends Schema.Codec.Encoded<typeof Settings> {
  readonly params: Omit<Assemblies.CreateOptions, "numExpectedUploadFiles">
  readonly files: ReadonlyArray<File<R>>
  readonly upload?: SharedOptions | undefined
  readonly wait?: false | Assemblies.AwaitOptions | undefined
  readonly verify?: Verify | undefined
}

/**
 * How a job of `runAll` ended. `earlier` has the ids of earlier Assemblies of the job, whose forms broke (`resend`) or whose
 * packs failed; their Steps may have run.
 *
 * - `Completed`: the job has completed. `status` is the Status of its Assembly, see `run`. In a pack, `status` has only the
 *   `uploads` and `results` of the job; all other fields are those of the whole Assembly.
 * - `Skipped`: an earlier run has completed the job, so this run sent no request to the service for this job. Only with
 *   a journal.
 * - `Failed`: the job failed with `error`. The other jobs are not affected.
 * - `Died`: the job ended with a defect, or interrupted itself; `cause` shows which. A defect in an upload cancels the
 *   Assembly of the job. The other jobs are not affected.
 *
 * @since 0.1.0
 * @category models
 */
export type Outcome<J> = { readonly job: J; readonly earlier: ReadonlyArray<Assembly.AssemblyId> } & (
  | { readonly _tag: "Completed"; readonly status: Assembly.Status }
  | { readonly _tag: "Skipped"; readonly assemblyId: Assembly.AssemblyId }
  | { readonly _tag: "Failed"; readonly error: AssemblyUploadError }
  | { readonly _tag: "Died"; readonly cause: Cause.Cause<never> }
)

type Issues = ReadonlyArray<Issue>

/**
 * `fieldname` and `filename` are separate options of a file, but are sent as part of its metadata. The issues of these
 * two options name the option, not a metadata key.
 */
const fileIssues = (file: File<unknown>, index: number): Issues => {
  if (!Predicate.isObject(file)) return [{ path: ["files", index], message: "Expected an object" }]
  const { fieldname = "file", filename, metadata } = file
  return UploadOptions.metadataIssues({ ...metadata, filename, fieldname }).map(({ message, path }) => {
    const [, key] = path
    return { message, path: ["files", index, ...(key === "filename" || key === "fieldname" ? [key] : path)] }
  })
}

const settingIssues = Rules.checker(Settings)

/** The maximum size of all files of a form together, in bytes. */
export const largestForm = 8 * 1024 * 1024

/** Characters that the header of a part would need to escape. Services decode escapes in different ways. */
const unquotable = /["\\\p{Cc}]/u

const rules = {
  single: "Expected no value for a form, which is one request",
  chosenId: "Expected no resend, because another Assembly cannot have the same assemblyId",
  metadata: "Expected no metadata for a form, which cannot send it",
  names: "Expected no quotation mark, backslash or control character in the names of a form",
  verify: "Expected a function, such as DeliveryProof.md5",
  verified: "Expected a wait, because only the Status of a completed Assembly is compared"
}

/** The rules of a form, except the rules for its sources. */
const formIssues = (job: Options<unknown>): Issues => [
  ...(["upload", "concurrency", "onFailure"] as const).flatMap((option) =>
    broken(job[option] !== undefined, [option], rules.single)
  ),
  ...broken(job.resend === true && job.params?.assemblyId !== undefined, ["resend"], rules.chosenId),
  ...job.files.flatMap(({ fieldname = "file", filename, metadata }, index) => [
    ...broken(metadata !== undefined, ["files", index, "metadata"], rules.metadata),
    ...broken(unquotable.test(fieldname), ["files", index, "fieldname"], rules.names),
    ...broken(unquotable.test(filename), ["files", index, "filename"], rules.names)
  ])
]

const sizeIssues = (sources: ReadonlyArray<UploadSource>): Issues => {
  const size = sources.reduce((sum, source) => sum + (source.size ?? 0n), 0n)
  const message = `Expected at most ${largestForm} bytes in all files of a form, got ${size}`
  return broken(size > BigInt(largestForm), ["files"], message)
}

const optionIssues = (job: Options<unknown>): Issues => {
  const { files, upload, verify, wait } = job
  const named =
    Array.isArray(files) && files.length > 0
      ? files.flatMap(fileIssues)
      : broken(true, ["files"], "Expected at least one file")
  return [
    ...broken(!Input.isRecord(job.params), ["params"], "Expected an object with keys"),
    ...named,
    ...(job.transport === "form" && named.length === 0 ? formIssues(job) : []),
    ...broken(job.transport !== "form" && job.resend === true, ["resend"], 'Expected transport: "form"'),
    ...settingIssues(job),
    ...(upload === undefined ? [] : Input.under(["upload"], UploadOptions.settingIssues(upload))),
    ...broken(verify !== undefined && typeof verify !== "function", ["verify"], rules.verify),
    ...broken(verify !== undefined && wait === false, ["verify"], rules.verified),
    ...(wait === undefined || wait === false ? [] : Input.under(["wait"], Creation.awaitOptionIssues(wait)))
  ]
}

/**
 * Opens the sources of a job. All options are checked before the first source is opened. The size of each source, and
 * whether the source can be read again, are checked afterwards.
 */
export const prepare = Effect.fnUntraced(function* <R>(job: Options<R>, isReplayed: boolean) {
  yield* UploadOptions.refuse("AssemblyUpload", broken(!Input.isRecord(job), [], "Expected an object"))
  const missing = Input.under(["upload"], yield* UploadOptions.missingDigest(job.upload?.checksum))
  yield* UploadOptions.refuse("AssemblyUpload", [...optionIssues(job), ...missing])
  const sources = yield* Effect.forEach(job.files, ({ source }) =>
    Effect.isEffect(source) ? source : Effect.succeed(source)
  )
  const isForm = job.transport === "form"
  const expected = { parallel: job.upload?.parallel, isReplayed: isReplayed || isForm }
  const found = sources.flatMap((source, index) =>
    Input.under(["files", index], UploadOptions.sourceIssues(source, expected))
  )
  yield* UploadOptions.refuse("AssemblyUpload", isForm && found.length === 0 ? sizeIssues(sources) : found)
  return sources
})
