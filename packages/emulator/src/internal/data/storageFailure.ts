import { SqliteError } from "@assembly-effect/sqlite/unstable/SqliteError"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import type * as SqlError from "effect/sql/SqlError"
import { StorageFailed } from "../../EmulatorError.ts"

const reasonOf: Readonly<Record<string, StorageFailed["reason"]>> = {
  ENOSPC: "Full",
  EDQUOT: "Full",
  EFBIG: "Full",
  EROFS: "ReadOnly",
  EACCES: "Denied",
  EPERM: "Denied"
}

/** The system error code in an error from Node or Effect, such as `ENOSPC`. */
const codeOf = (problem: unknown): string => {
  if (Predicate.hasProperty(problem, "code") && typeof problem.code === "string") return problem.code
  if (Predicate.hasProperty(problem, "reason")) return codeOf(problem.reason)
  return Predicate.hasProperty(problem, "cause") ? codeOf(problem.cause) : "unknown"
}

/** Converts a file system error to `StorageFailed`. `path` is the file that cannot be read or written. */
export const fromSystem =
  (path: string) =>
  (problem: unknown): StorageFailed => {
    const code = codeOf(problem)
    return new StorageFailed({ path, code, reason: reasonOf[code] ?? "Broken" })
  }

/** The result codes of SQLite that mean a disk error (https://www.sqlite.org/rescode.html). */
const sqlite: Readonly<Record<number, Pick<StorageFailed, "code" | "reason">>> = {
  3: { code: "SQLITE_PERM", reason: "Denied" },
  8: { code: "SQLITE_READONLY", reason: "ReadOnly" },
  10: { code: "SQLITE_IOERR", reason: "Broken" },
  11: { code: "SQLITE_CORRUPT", reason: "Damaged" },
  13: { code: "SQLITE_FULL", reason: "Full" },
  14: { code: "SQLITE_CANTOPEN", reason: "Denied" },
  26: { code: "SQLITE_NOTADB", reason: "Damaged" }
}

/** Converts an SQL error to `StorageFailed` if the disk failed, else to a defect. */
export const fromSql = (error: SqlError.SqlError): Effect.Effect<never, StorageFailed> => {
  const { cause } = error.reason
  if (!(cause instanceof SqliteError)) return Effect.die(error)
  // The low byte of an extended result code is the primary result code.
  const known = sqlite[cause.errno & 0xff]
  return known === undefined ? Effect.die(error) : Effect.fail(new StorageFailed({ path: cause.path, ...known }))
}

const pause = "1 second"

/** Retries background work until it no longer fails with `StorageFailed`. Only the first failure is logged. */
export const retryUntilStored = <A, R>(work: Effect.Effect<A, StorageFailed, R>): Effect.Effect<A, never, R> =>
  work.pipe(
    Effect.catch((error) =>
      Effect.logError(error.message).pipe(
        Effect.andThen(Effect.sleep(pause)),
        Effect.andThen(Effect.retry(work, Schedule.spaced(pause)))
      )
    ),
    Effect.orDie
  )
