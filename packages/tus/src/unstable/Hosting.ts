/**
 * What `@assembly-effect/workflow`, which runs jobs of `AssemblyUpload` with its own journal, needs beside the public
 * modules.
 */
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Schema from "effect/Schema"
import * as AssemblyFiles from "../internal/assemblyFiles.ts"
import * as Journal from "../internal/journal.ts"
import * as JournalEntry from "../internal/journalEntry.ts"
import * as Options from "../internal/options.ts"
import * as Policy from "../internal/policy.ts"

/**
 * Limits the files that several jobs send at the same time.
 *
 * @since 0.1.0
 * @category references
 */
export const Permits = AssemblyFiles.Permits

/**
 * Decodes the text that an `UploadJournal.Store` has for a job.
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeAssembly = Schema.decodeEffect(JournalEntry.assemblies)

/**
 * The SHA-256 of JSON values, in hexadecimal.
 *
 * @since 0.1.0
 * @category hashing
 */
export const digestOf = Journal.digestOf

/**
 * The rules that the options and the metadata of an upload break, each with the path of the field.
 *
 * @since 0.1.0
 * @category running
 */
export const issues = (options: Options.RequestOptions, metadata: Options.Metadata): ReadonlyArray<Issue> =>
  Options.issues(options, metadata)

/**
 * Whether a later run of the same job may succeed after this error of an upload: the failure was temporary, or it is
 * not known whether a request arrived.
 *
 * @since 0.1.0
 * @category running
 */
export const isTemporary = (error: { readonly _tag: string; readonly permanent?: boolean }): boolean =>
  error._tag === "CreationUnknown" || error._tag === "ConcatenationUnknown" || Policy.canHeal(error)
