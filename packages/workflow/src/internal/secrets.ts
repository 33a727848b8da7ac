/**
 * The secrets of a deployment. What the database contains of an Assembly and of its uploads is sealed (encrypted) with
 * a key that is derived from a secret, so that nobody without the secret can read the ids and URLs.
 */
import { Effect, Layer, Redacted, Schema } from "effect"
import { Aead, Mac, SecureRandom } from "effect/crypto"
import * as Base64 from "effect/encoding/Base64"
import * as Hex from "effect/encoding/Hex"
import type { SqlClient } from "effect/sql"
import { InvalidSecret, type StoreFailed } from "../DurableError.ts"
import type { Row } from "./row.ts"
import * as Database from "./database.ts"

/** The minimum length of a secret in bytes, which is the output length of the HMAC. */
const minBytes = 32

/** The rule of the option `secrets`. {@link make} checks how many there are, and their lengths. */
export const Setting = Schema.Array(Schema.Redacted(Schema.String))

const algorithm = Aead.aes256Gcm

const utf8 = new TextEncoder()

/** What is derived from one secret. The database stores the fingerprint instead of the secret. */
const derivation = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
  const bytes = new Uint8Array(utf8.encode(Redacted.value(secret)))
  if (bytes.length < minBytes) {
    return yield* new InvalidSecret({ description: `Expected at least ${minBytes} bytes, got ${bytes.length}` })
  }
  const mac = yield* Mac.Mac
  const key = yield* Effect.orDie(Mac.key(Mac.hmacSha256, bytes))
  // Each purpose gives other values, so that no value shows another one.
  const derive = (purpose: "fingerprint" | "seal" | "lookup", ...values: ReadonlyArray<string>) =>
    Effect.orDie(mac.sign(key, utf8.encode(JSON.stringify(["durable/v1", purpose, ...values]))))
  const text = (tag: Uint8Array) => Hex.encode(tag.subarray(0, 16))
  return {
    fingerprint: text(yield* derive("fingerprint")),
    seal: yield* Effect.orDie(Aead.key(algorithm, yield* derive("seal"))),
    lookup: (assemblyId: string) => Effect.map(derive("lookup", assemblyId), text)
  }
})

/** The owner of a sealed text: a text that was sealed for another job cannot be opened. */
type Owner = Pick<Row, "key" | "secret">

/**
 * The secrets of this process.
 *
 * - `newest`: the fingerprint of the secret for new attempts.
 * - `fingerprints`: the fingerprints of all secrets, `newest` first.
 * - `seal`, `open`: encrypt and decrypt a text of an attempt.
 * - `lookups`: the values by which the database finds the job of an Assembly, one for each secret, that of `newest`
 *   first. The id of the Assembly is a capability, so the id is not stored.
 */
export type Secrets = Effect.Success<ReturnType<typeof make>>

/** The error of a process that does not know the secret of an attempt. */
export const unknown = new InvalidSecret({
  description: "the job began with a secret that is not in the list; add the earlier secret to the list"
})

/** Makes the `Secrets`. The first secret is for new attempts. An older attempt keeps the secret that it began with. */
export const make = Effect.fnUntraced(
  function* (secrets: ReadonlyArray<Redacted.Redacted>) {
    const derivations = yield* Effect.forEach(secrets, derivation)
    const [newest] = derivations
    if (newest === undefined) return yield* new InvalidSecret({ description: "Expected at least one secret, got none" })
    const { randomBytes } = yield* SecureRandom.SecureRandom
    const { decrypt, encrypt } = yield* Aead.Aead
    const sealOf = ({ secret }: Owner): Effect.Effect<Aead.Key, InvalidSecret> => {
      const found = derivations.find(({ fingerprint }) => fingerprint === secret)
      return found === undefined ? Effect.fail(unknown) : Effect.succeed(found.seal)
    }
    return {
      newest: newest.fingerprint,
      fingerprints: derivations.map(({ fingerprint }) => fingerprint),
      seal: (owner: Owner, text: string) =>
        Effect.gen(function* () {
          const nonce = yield* randomBytes(algorithm.nonceLength)
          const aad = utf8.encode(owner.key)
          const sealed = yield* Effect.orDie(encrypt(yield* sealOf(owner), utf8.encode(text), { nonce, aad }))
          return Base64.encode(nonce) + Base64.encode(sealed)
        }),
      open: (owner: Owner, sealed: string) =>
        Effect.gen(function* () {
          const seal = yield* sealOf(owner)
          const split = (algorithm.nonceLength / 3) * 4
          const nonce = yield* Effect.fromResult(Base64.decode(sealed.slice(0, split)))
          const bytes = yield* Effect.fromResult(Base64.decode(sealed.slice(split)))
          return new TextDecoder().decode(yield* decrypt(seal, bytes, { nonce, aad: utf8.encode(owner.key) }))
        }).pipe(
          Effect.mapError((error) =>
            error instanceof InvalidSecret ? error : Database.damaged(owner.key, ["assembly"])
          )
        ),
      lookups: (assemblyId: string) => Effect.forEach(derivations, ({ lookup }) => lookup(assemblyId))
    }
  },
  Effect.provide(
    Layer.merge(Mac.layerWebCrypto, Aead.layerWebCrypto).pipe(Layer.provideMerge(SecureRandom.layerWebCrypto))
  )
)

const foreign = new InvalidSecret({
  description:
    "the database of the jobs belongs to a deployment with other secrets; add the earlier secret to the list, or use another database"
})

/**
 * Joins the deployment of the database: one row contains the fingerprint of the newest secret of the last runner that
 * joined, and a process that does not know this secret is refused. The first runner creates the row. A secret is replaced
 * runner by runner, and each of them knows the newest secret of the others.
 *
 * - `isAlone`: whether no other process can use the database. If so, and if no job has begun, the secrets of this
 *   process replace the stored one.
 * - `runs`: whether this process runs jobs. A process that runs no jobs does not change the row.
 */
export const join = (
  { fingerprints, newest }: Secrets,
  { isAlone, runs }: { readonly isAlone: boolean; readonly runs: boolean }
): Effect.Effect<void, InvalidSecret | StoreFailed, SqlClient.SqlClient> =>
  Effect.gen(function* () {
    const { sql } = yield* Database.make
    if (isAlone && !(yield* Database.hasBegun)) yield* sql`DELETE FROM durable_deployment`
    if (runs) {
      yield* sql`
        INSERT INTO durable_deployment (id, secret) VALUES (1, ${newest})
        ON CONFLICT (id) DO UPDATE SET secret = EXCLUDED.secret WHERE durable_deployment.secret IN ${sql.in(fingerprints)}`
    }
    const [row] = yield* sql<{ readonly secret: string }>`SELECT secret FROM durable_deployment`
    if (row !== undefined && !fingerprints.includes(row.secret)) return yield* foreign
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.fail(Database.failedTo("join")(error))))
