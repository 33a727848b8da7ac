/**
 * The key of an upload or a job in a journal. A store uses the key as a file name or as part of its own keys, so one
 * rule applies to every store. The rule excludes separators and dots. The rule also excludes upper-case letters,
 * because some file systems ignore case. If a store keeps its leases beside its entries, the name of a lease contains a
 * dot or a hyphen, so a key never looks like the name of a lease.
 */
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import type { Key } from "../UploadJournal.ts"

const rule = "Expected 1 to 64 characters of a-z and 0-9"

/** Whether a text is a valid key. A store may contain other names. */
export const isKey = (text: string): text is Key => /^[a-z0-9]{1,64}$/.test(text)

/** Validates the key of a caller. */
export const check = (text: string): Effect.Effect<Key, InvalidRequest> =>
  isKey(text)
    ? Effect.succeed(text)
    : Effect.fail(new InvalidRequest({ operation: "UploadJournal", issues: [{ path: ["key"], message: rule }] }))
