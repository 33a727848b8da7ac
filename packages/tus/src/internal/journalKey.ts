/**
 * The key of an upload or a job in a journal. A store uses the key as a file name or as part of its own keys, so one
 * rule applies to every store. The rule excludes separators and dots. The rule also excludes upper-case letters,
 * because some file systems ignore case. If a store keeps its leases beside its entries, the name of a lease contains a
 * dot or a hyphen, so a key never looks like the name of a lease.
 */
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type { UploadTarget } from "../UploadTarget.ts"
import type { Key } from "./journal.ts"
import * as Subtle from "./subtle.ts"

const rule = "Expected 1 to 64 characters of a-z and 0-9"

/** Whether a text is a valid key. A store may contain other names. */
export const isKey = (text: string): text is Key => /^[a-z0-9]{1,64}$/.test(text)

/** Validates the key of a caller. */
export const check = (text: string): Effect.Effect<Key, InvalidRequest> =>
  isKey(text)
    ? Effect.succeed(text)
    : Effect.fail(new InvalidRequest({ operation: "UploadJournal", issues: [{ path: ["key"], message: rule }] }))

const utf8 = new TextEncoder()

/** A digest of the identity of an upload or a job. */
export const digestOf = (parts: ReadonlyArray<Schema.Json>): Effect.Effect<string> =>
  Subtle.sha256(utf8.encode(JSON.stringify(parts)))

/**
 * The key of an upload: a digest of the URL of the Assembly, the identity and size of the bytes, the `filename`, the
 * `fieldname` and `file`. `file` is the index of the file in a job. Because of this index, two files with the same
 * bytes and names have different keys.
 *
 * @since 0.1.0
 * @category constructors
 */
export const keyOf = (
  target: UploadTarget,
  upload: {
    readonly identity: string | undefined
    readonly size: bigint
    readonly filename: string
    readonly fieldname: string
    readonly file?: number | undefined
  }
): Effect.Effect<string> =>
  digestOf([
    Redacted.value(target.assemblySslUrl),
    upload.identity ?? null,
    String(upload.size),
    upload.filename,
    upload.fieldname,
    ...(upload.file === undefined ? [] : [upload.file])
  ])

/**
 * The prefix of the keys of jobs. The key of an upload never has this prefix, because that key is a hexadecimal digest.
 */
const assemblyPrefix = "job"
export const isAssemblyKey = (key: string): boolean => key.startsWith(assemblyPrefix)

/**
 * The key of a job: `job` and a shortened digest of `parts`. `parts` identify the service, the params of the job and
 * its files.
 *
 * @since 0.1.0
 * @category constructors
 */
export const assemblyKeyOf = (parts: ReadonlyArray<Schema.Json>): Effect.Effect<string> =>
  Effect.map(digestOf(parts), (digest) => (assemblyPrefix + digest).slice(0, 64))
