/**
 * Validates the options of a whole job, and opens its sources, before the Assembly of the job is created.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import type { InvalidRequest, Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { UploadSource } from "./source.ts"
import type { SourceFailed } from "./sourceFailed.ts"
import type { File, Options as Job } from "./job.ts"
import * as Form from "./form.ts"
import * as Options from "./options.ts"

type Issues = ReadonlyArray<Issue>

const under = (path: ReadonlyArray<string | number>, issues: Issues): Issues =>
  issues.map((issue) => ({ message: issue.message, path: [...path, ...issue.path] }))

/**
 * `fieldname` and `filename` are separate options of a file, but are sent as part of its metadata. The issues of these
 * two options name the option, not a metadata key.
 */
const fileIssues = (file: File<unknown>, index: number): Issues => {
  if (!Predicate.isObject(file)) return [{ path: ["files", index], message: "Expected an object" }]
  const { fieldname = "file", filename, metadata } = file
  return Options.metadataIssues({ ...metadata, filename, fieldname }).map(({ message, path }) => {
    const [, key] = path
    return { message, path: ["files", index, ...(key === "filename" || key === "fieldname" ? [key] : path)] }
  })
}

const settingIssues = Rules.checker(
  Schema.Struct({
    transport: Schema.optional(Schema.Literals(["tus", "form"])),
    resend: Schema.optional(Schema.Boolean),
    concurrency: Schema.optional(Schema.Union([Schema.Literal("unbounded"), Rules.whole(1)])),
    onFailure: Schema.optional(Schema.Literals(["cancel", "keep"])),
    cancelOnInterrupt: Schema.optional(Schema.Boolean),
    restart: Schema.optional(Schema.Boolean),
    progressInterval: Schema.optional(Rules.pause)
  })
)

/** Characters that the header of a part would need to escape. Services decode escapes in different ways. */
const unquotable = /["\\\p{Cc}]/u

const unnameable = "Expected no quotation mark, backslash or control character in the names of a form"

/** The rules of a form, except the rules for its sources. */
const formIssues = (job: Job<unknown>): Issues => [
  ...(["upload", "concurrency", "onFailure"] as const)
    .filter((option) => job[option] !== undefined)
    .map((option) => ({ path: [option], message: "Expected no value for a form, which is one request" })),
  ...(job.resend === true && job.params?.assemblyId !== undefined
    ? [{ path: ["resend"], message: "Expected no resend, because another Assembly cannot have the same assemblyId" }]
    : []),
  ...job.files.flatMap(({ fieldname = "file", filename, metadata }, index) => [
    ...(metadata === undefined
      ? []
      : [{ path: ["files", index, "metadata"], message: "Expected no metadata for a form, which cannot send it" }]),
    ...Object.entries({ fieldname, filename })
      .filter(([, name]) => unquotable.test(name))
      .map(([option]) => ({ path: ["files", index, option], message: unnameable }))
  ])
]

const sizeIssues = (sources: ReadonlyArray<UploadSource>): Issues => {
  const size = sources.reduce((sum, source) => sum + (source.size ?? 0n), 0n)
  return size > BigInt(Form.largest)
    ? [{ path: ["files"], message: `Expected at most ${Form.largest} bytes in all files of a form, got ${size}` }]
    : []
}

const optionIssues = (job: Job<unknown>): Issues => {
  const { files, upload, verify, wait } = job
  const named =
    Array.isArray(files) && files.length > 0
      ? files.flatMap(fileIssues)
      : [{ path: ["files"], message: "Expected at least one file" }]
  return [
    ...named,
    ...(job.transport === "form" && named.length === 0 ? formIssues(job) : []),
    ...(job.transport !== "form" && job.resend === true
      ? [{ path: ["resend"], message: 'Expected transport: "form"' }]
      : []),
    ...settingIssues(job),
    ...(upload === undefined ? [] : under(["upload"], Options.issues(upload, undefined))),
    ...(verify !== undefined && typeof verify !== "function"
      ? [{ path: ["verify"], message: "Expected a function, such as DeliveryProof.md5" }]
      : []),
    ...(verify !== undefined && wait === false
      ? [{ path: ["verify"], message: "Expected a wait, because only the Status of a completed Assembly is compared" }]
      : []),
    ...(wait === undefined || wait === false ? [] : under(["wait"], Assemblies.awaitOptionIssues(wait)))
  ]
}

/**
 * Opens the sources of a job. All options are checked before the first source is opened. The size of each source, and
 * whether the source can be read again, are checked afterwards.
 */
export const prepare = <R>(
  job: Job<R>,
  isReplayed: boolean
): Effect.Effect<ReadonlyArray<UploadSource>, InvalidRequest | SourceFailed, R> =>
  Effect.gen(function* () {
    yield* Options.refuse("AssemblyUpload", Input.isRecord(job) ? [] : [{ path: [], message: "Expected an object" }])
    const missing = under(["upload"], yield* Options.missingDigest(job.upload?.checksum))
    yield* Options.refuse("AssemblyUpload", [...optionIssues(job), ...missing])
    const sources = yield* Effect.forEach(job.files, ({ source }) =>
      Effect.isEffect(source) ? source : Effect.succeed(source)
    )
    const isForm = job.transport === "form"
    const rules = { parallel: job.upload?.parallel, isReplayed: isReplayed || isForm }
    const broken = sources.flatMap((source, index) => under(["files", index], Options.sourceIssues(source, rules)))
    yield* Options.refuse("AssemblyUpload", isForm && broken.length === 0 ? sizeIssues(sources) : broken)
    return sources
  })
