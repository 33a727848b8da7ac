/** The files of `DurableSqlite`, which only their owner may read: the database, and the secret beside it. */
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { Effect, FileSystem, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { InvalidSecret, type StoreFailed } from "../DurableError.ts"
import { hasBegun } from "./database.ts"

/** The mode of a file that only its owner may read and write. */
const ownerOnly = 0o600

/** On Windows, the mode of a file does not say who may read the file. */
const hasModes = process.platform !== "win32"

/**
 * Returns the mode of a file in octal digits if it gives users other than the owner any permission. Returns undefined
 * if only the owner has permissions, and always on Windows.
 */
const openTo = ({ mode }: FileSystem.File.Info): string | undefined =>
  hasModes && (mode & 0o077) !== 0 ? (mode & 0o777).toString(8).padStart(3, "0") : undefined

/**
 * Creates the file of a database with a mode for its owner only, if nothing has this path. What exists keeps its mode,
 * because it may be something else than a database.
 */
export const createDatabase = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* fs.exists(path))) yield* Effect.scoped(fs.open(path, { flag: "a", mode: ownerOnly }))
})

/** Gives the files of a database that SQLite has opened and locked a mode for their owner only. */
export const closeDatabase = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  // SQLite follows a symbolic link, and creates the other files beside the file that the link leads to, with its mode.
  const database = yield* fs.realPath(path)
  for (const file of [database, `${database}-wal`, `${database}-shm`]) {
    if ((yield* fs.exists(file)) && openTo(yield* fs.stat(file)) !== undefined) yield* fs.chmod(file, ownerOnly)
  }
})

const label = { label: "secret of the deployment" }

/** Writes the file under another name first, so that no process reads an incomplete file. */
const create = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const secret = randomBytes(32).toString("hex")
  const incomplete = `${path}.new`
  yield* fs.remove(incomplete, { force: true })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(incomplete, { flag: "wx", mode: ownerOnly })
      yield* file.writeAll(new TextEncoder().encode(secret))
      yield* file.sync
    })
  )
  yield* fs.rename(incomplete, path)
  return secret
})

/**
 * Refuses a file with a secret that other users may have read. A new mode for the file would not help, because these
 * users may already know the secret.
 */
const refuseIfOpen = Effect.fnUntraced(function* (path: string) {
  const mode = openTo(yield* FileSystem.FileSystem.use((fs) => fs.stat(path)))
  const problem = `the mode of the file ${Printable.escape(path)} is ${mode}, so others can read or replace it; if nobody has, run chmod 600 on it`
  if (mode !== undefined) return yield* new InvalidSecret({ description: problem })
})

/**
 * Reads the secret. A file that users other than its owner can read or write is refused. If the file is missing, this
 * function creates the file, unless jobs have begun with the secret of the missing file. The caller must have locked the
 * database, so that no other process creates the file at the same time.
 */
export const readSecret = (
  path: string
): Effect.Effect<Redacted.Redacted, InvalidSecret | StoreFailed, FileSystem.FileSystem | SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const exists = yield* fs.exists(path)
    if (exists) yield* refuseIfOpen(path)
    // If jobs have begun, a new secret is refused, because only the old secret leads to the Assemblies of these jobs.
    if (!exists && (yield* hasBegun)) {
      const problem = `the file ${Printable.escape(path)} is missing, and jobs have begun with its secret; put the file back`
      return yield* new InvalidSecret({ description: problem })
    }
    const text = exists ? yield* fs.readFileString(path) : yield* create(path)
    return Redacted.make(text.trim(), label)
  }).pipe(Effect.catchTag("PlatformError", ({ message }) => Effect.fail(new InvalidSecret({ description: message }))))
