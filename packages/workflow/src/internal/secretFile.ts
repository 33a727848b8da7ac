/** The secret of an embedded runner, in a file beside its database. */
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import { InvalidSecret } from "../DurableError.ts"

const label = { label: "secret of the deployment" }

const newSecret = SecureRandom.SecureRandom.use((random) => random.randomBytes(32)).pipe(
  Effect.map(Hex.encode),
  Effect.provide(SecureRandom.layerWebCrypto)
)

/** Writes the file under another name first, so that it is never seen incomplete. */
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

/** Reads the secret, and creates it if the file is missing. The caller has locked the database of the secret. */
export const read = (path: string): Effect.Effect<Redacted.Redacted, InvalidSecret, FileSystem.FileSystem> =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const text = (yield* fs.exists(path)) ? yield* fs.readFileString(path) : yield* create(path)
    return Redacted.make(text.trim(), label)
  }).pipe(Effect.mapError(({ message }) => new InvalidSecret({ problem: message })))
