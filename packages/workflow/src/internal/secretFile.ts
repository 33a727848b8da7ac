/** The secret of an embedded runner, in a file beside its database. */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as SqlClient from "effect/sql/SqlClient"
import { InvalidSecret, StoreFailed } from "../DurableError.ts"

const label = { label: "secret of the deployment" }

const newSecret = SecureRandom.SecureRandom.use((random) => random.randomBytes(32)).pipe(
  Effect.map(Hex.encode),
  Effect.provide(SecureRandom.layerWebCrypto)
)

/** Writes the file under another name first, so that no process reads an incomplete file. */
const create = Effect.fnUntraced(function* (path: string) {
  const fs = yield* FileSystem.FileSystem
  const secret = yield* newSecret
  const incomplete = `${path}.new`
  yield* fs.remove(incomplete, { force: true })
  yield* Effect.scoped(
    Effect.gen(function* () {
      const file = yield* fs.open(incomplete, { flag: "wx", mode: 0o600 })
      yield* file.writeAll(new TextEncoder().encode(secret))
      yield* file.sync
    })
  )
  yield* fs.rename(incomplete, path)
  return secret
})

/** Whether the database has jobs that have begun. Their Assemblies can be found only with the secret. */
const hasBegun = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql`SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'durable_jobs'`
  return tables.length > 0 && (yield* sql`SELECT 1 FROM durable_jobs WHERE secret IS NOT NULL LIMIT 1`).length > 0
}).pipe(Effect.mapError(({ reason }) => new StoreFailed({ operation: "open", problem: reason.message })))

/**
 * Reads the secret. If the file is missing, this function creates the file, unless jobs have begun with the secret of
 * the missing file. The caller must have locked the database.
 */
export const read = (
  path: string
): Effect.Effect<Redacted.Redacted, InvalidSecret | StoreFailed, FileSystem.FileSystem | SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const exists = yield* fs.exists(path)
    if (!exists && (yield* hasBegun)) {
      const problem = `the file ${path} is missing, and jobs have begun with its secret; put the file back`
      return yield* new InvalidSecret({ problem })
    }
    const text = exists ? yield* fs.readFileString(path) : yield* create(path)
    return Redacted.make(text.trim(), label)
  }).pipe(Effect.catchTag("PlatformError", ({ message }) => Effect.fail(new InvalidSecret({ problem: message }))))
