/**
 * Derives the id of the Assembly of an attempt, and the markers of its uploads, from the secret of the deployment, the
 * execution id and the salt of the attempt. A later runner derives the same values, so no URL has to be stored. Nobody
 * without the secret can guess the values.
 */
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { InvalidSecret } from "../DurableError.ts"

/** The minimum length of a secret in bytes, which is the output length of the HMAC. */
const minBytes = 32

const utf8 = new TextEncoder()

/** Derives values from one secret. The database stores the fingerprint instead of the secret. */
interface Derivation {
  readonly fingerprint: string
  readonly derive: (purpose: Purpose, ...values: ReadonlyArray<string | number>) => Effect.Effect<string>
}

/**
 * What a derived value is for. Each purpose gives other values, so that a marker cannot be used as the id of an
 * Assembly.
 */
type Purpose = "fingerprint" | "assembly" | "marker" | "lookup"

const derivation = Effect.fnUntraced(function* (secret: Redacted.Redacted) {
  const bytes = new Uint8Array(utf8.encode(Redacted.value(secret)))
  if (bytes.length < minBytes) {
    return yield* new InvalidSecret({ description: `Expected at least ${minBytes} bytes, got ${bytes.length}` })
  }
  const mac = yield* Mac.Mac
  const key = yield* Effect.orDie(Mac.key(Mac.hmacSha256, bytes))
  const derive: Derivation["derive"] = (purpose, ...values) =>
    mac.sign(key, utf8.encode(JSON.stringify(["durable/v1", purpose, ...values]))).pipe(
      Effect.map((tag) => Hex.encode(tag.subarray(0, 16))),
      Effect.orDie
    )
  return { fingerprint: yield* derive("fingerprint"), derive } satisfies Derivation
})

/**
 * The values of an attempt are derived from these fields and from the execution id of the attempt.
 *
 * - `secret`: the fingerprint of the secret that the attempt began with.
 * - `salt`: a random value, chosen when the attempt began. If a key is used again after its job was removed, the new
 *   job has the same execution ids as the old job. Without a salt, the new job would get the Assembly of the old job.
 *   Salt and secret are undefined until the attempt begins.
 */
export interface Root {
  readonly secret: string | undefined
  readonly salt: string | undefined
}

/**
 * Derives the values of this deployment.
 *
 * - `newest`: the fingerprint of the secret for new attempts.
 * - `fingerprints`: the fingerprints of all secrets, `newest` first.
 * - `salt`: makes a random salt for a new attempt.
 * - `marker`: the marker of an upload of the file with the index `file`. The first upload that is created for this file
 *   has the `creation` 1, the second has 2.
 * - `lookup`: the value by which the database finds the job of an Assembly. The id of the Assembly is a capability, so
 *   the id is not stored.
 * - `lookups`: the lookups of an Assembly, one for each secret.
 */
export interface Derive {
  readonly newest: string
  readonly fingerprints: ReadonlyArray<string>
  readonly salt: Effect.Effect<string>
  readonly assemblyId: (root: Root, execution: string) => Effect.Effect<Assembly.AssemblyId, InvalidSecret>
  readonly marker: (
    root: Root,
    execution: string,
    file: number,
    creation: number
  ) => Effect.Effect<string, InvalidSecret>
  readonly lookup: (assemblyId: string) => Effect.Effect<string>
  readonly lookups: (assemblyId: string) => Effect.Effect<ReadonlyArray<string>>
}

/**
 * Makes a `Derive`. The first secret of `secrets` is for new attempts. An older attempt keeps the secret that it began
 * with.
 */
export const make = Effect.fnUntraced(
  function* (secrets: ReadonlyArray<Redacted.Redacted>) {
    const derivations = yield* Effect.forEach(secrets, derivation)
    const [newest] = derivations
    if (newest === undefined) return yield* new InvalidSecret({ description: "Expected at least one secret, got none" })
    const { randomBytes } = yield* SecureRandom.SecureRandom
    const withSecret = (fingerprint: string | undefined): Effect.Effect<Derivation, InvalidSecret> => {
      const found = derivations.find((known) => known.fingerprint === fingerprint)
      return found === undefined
        ? Effect.fail(
            new InvalidSecret({
              description: "the job began with a secret that is not in the list; add the earlier secret to the list"
            })
          )
        : Effect.succeed(found)
    }
    return {
      newest: newest.fingerprint,
      fingerprints: derivations.map(({ fingerprint }) => fingerprint),
      salt: Effect.map(randomBytes(16), Hex.encode),
      assemblyId: ({ salt = "", secret }, execution) =>
        Effect.flatMap(withSecret(secret), ({ derive }) =>
          Effect.map(derive("assembly", execution, salt), (id) => Assembly.AssemblyId.make(id))
        ),
      marker: ({ salt = "", secret }, execution, file, creation) =>
        Effect.flatMap(withSecret(secret), ({ derive }) => derive("marker", execution, file, creation, salt)),
      lookup: (assemblyId) => newest.derive("lookup", assemblyId),
      lookups: (assemblyId) => Effect.forEach(derivations, ({ derive }) => derive("lookup", assemblyId))
    } satisfies Derive
  },
  Effect.provide(Mac.layerWebCrypto.pipe(Layer.provideMerge(SecureRandom.layerWebCrypto)))
)
