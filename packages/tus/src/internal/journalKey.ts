/**
 * The key of an upload in a journal. A store makes a file name of it, or a part of its own keys, so the one rule holds
 * for every store: no separator, no dot, nothing that a file system folds, and nothing that ends the name of a lease.
 */
import * as ApiError from "@assembly-effect/api/ApiError"
import * as Effect from "effect/Effect"
import type { Key } from "../UploadJournal.ts"

const rule = "Expected 1 to 64 characters of a-z and 0-9"

/** Whether a text is a key: a store may hold other names than it was given. */
export const isKey = (text: string): text is Key => /^[a-z0-9]{1,64}$/.test(text)

/** The key that a caller names. */
export const check = (text: string): Effect.Effect<Key, ApiError.InvalidRequest> =>
  isKey(text)
    ? Effect.succeed(text)
    : Effect.fail(
        new ApiError.InvalidRequest({ operation: "UploadJournal", issues: [{ path: ["key"], message: rule }] })
      )
