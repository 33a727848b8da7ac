/**
 * The rules that the options of a whole job keep, checked before its Assembly is created.
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as Settings from "@assembly-effect/api/Settings"
import type * as Effect from "effect/Effect"
import type { File, Options as JobOptions } from "../AssemblyUpload.ts"
import type { UploadSource } from "../UploadSource.ts"
import * as Options from "./Options.ts"

type Issues = ReadonlyArray<ApiError.Issue>

const under = (path: ReadonlyArray<string | number>, issues: Issues): Issues =>
  issues.map((issue) => ({ message: issue.message, path: [...path, ...issue.path] }))

/** The two names stand beside the metadata of a file, and inside it when it is sent. */
const fileIssues = ({ fieldname = "file", filename, metadata }: File<unknown>, index: number): Issues =>
  Options.issues({ metadata: { ...metadata, filename, fieldname } }).map(({ message, path }) => {
    const [, key] = path
    return { message, path: ["files", index, ...(key === "filename" || key === "fieldname" ? [key] : path)] }
  })

/** Refuses options that break a rule, all of them at once. */
export const check = (options: JobOptions<unknown>): Effect.Effect<void, ApiError.InvalidRequest> => {
  const { concurrency, files, upload, wait } = options
  return Options.refuse("AssemblyUpload", [
    ...(files.length === 0 ? [{ path: ["files"], message: "Expected at least one file" }] : []),
    ...files.flatMap(fileIssues),
    ...(concurrency === "unbounded" ? [] : Settings.issues({ concurrency: Settings.whole(concurrency, 1) })),
    ...under(["upload"], Options.issues(upload ?? {})),
    ...(wait === undefined || wait === false ? [] : under(["wait"], Assemblies.awaitOptionIssues(wait)))
  ])
}

/** Refuses sources that cannot be uploaded in this way. */
export const checkSources = (
  { upload }: JobOptions<unknown>,
  sources: ReadonlyArray<UploadSource>
): Effect.Effect<void, ApiError.InvalidRequest> =>
  Options.refuse(
    "AssemblyUpload",
    sources.flatMap((source, index) => under(["files", index], Options.issues({ source, parallel: upload?.parallel })))
  )
