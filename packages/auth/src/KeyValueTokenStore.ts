/**
 * Shares tokens through a `KeyValueStore`. This module has its own path, because most programs do not need it.
 */
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Aead from "effect/crypto/Aead"
import * as Digest from "effect/crypto/Digest"
import * as Kdf from "effect/crypto/Kdf"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as AuthError from "./AuthError.ts"
import * as Credentials from "./Credentials.ts"
import * as Hmac from "./internal/hmac.ts"
import * as TokenStore from "./TokenStore.ts"
import * as Bytes from "./unstable/Bytes.ts"

/** The time limit of one access to the `KeyValueStore`. After this limit `Tokens` continues without the store. */
const patience = Duration.seconds(5)

const utf8 = new TextEncoder()
const nonceLength = Aead.aes256Gcm.nonceLength

const AtRest = Json.fromString(
  Schema.Struct({
    value: Auth.AccessToken,
    expiresAt: Schema.optional(Schema.DateTimeUtcFromMillis),
    renewAt: Schema.optional(Schema.DateTimeUtcFromMillis)
  })
)
const decodeAtRest = Schema.decodeUnknownEffect(AtRest)
const encodeAtRest = Schema.encodeEffect(AtRest)

/** The bytes of a grant. The ciphertext is bound to these bytes, so that a token cannot be moved to another grant. */
const textOf = ({ audience, authKey, baseUrl, scopes }: TokenStore.Grant): Uint8Array =>
  utf8.encode(JSON.stringify([authKey, audience, baseUrl, scopes]))

const layerCrypto = Layer.mergeAll(Aead.layerWebCrypto, Kdf.layerWebCrypto, Digest.layerWebCrypto).pipe(
  Layer.provideMerge(SecureRandom.layerWebCrypto)
)

const makeKeyValueStore = Effect.gen(function* () {
  const { secret } = yield* Credentials.Credentials
  const aead = yield* Aead.Aead
  const digest = yield* Digest.Digest
  const random = yield* SecureRandom.SecureRandom
  const entries = KeyValueStore.prefix(yield* KeyValueStore.KeyValueStore, "assembly-token-")
  const derived = yield* (yield* Kdf.Kdf).derive(Kdf.hkdfSha256, utf8.encode(Redacted.value(secret)), {
    salt: new Uint8Array(0),
    info: utf8.encode("assembly-effect TokenStore v1"),
    length: Aead.aes256Gcm.keyLength
  })
  const key = yield* Aead.key(Aead.aes256Gcm, derived)

  // An entry is named by a hash, because file systems limit the length of names.
  const nameOf = (grant: TokenStore.Grant) => Effect.map(digest.digest(Digest.sha256, textOf(grant)), Hex.encode)

  const load = Effect.fnUntraced(function* (grant: TokenStore.Grant) {
    const sealed = yield* entries.getUint8Array(yield* nameOf(grant))
    if (sealed === undefined) return Option.none<TokenStore.Token>()
    const plain = yield* aead.decrypt(key, sealed.subarray(nonceLength), {
      nonce: sealed.subarray(0, nonceLength),
      aad: textOf(grant)
    })
    const { expiresAt, renewAt, value } = yield* decodeAtRest(new TextDecoder().decode(plain))
    return Option.some<TokenStore.Token>({ value, expiresAt, renewAt })
  })

  const save = Effect.fnUntraced(function* (grant: TokenStore.Grant, { expiresAt, renewAt, value }: TokenStore.Token) {
    const nonce = yield* random.randomBytes(nonceLength)
    const text = yield* encodeAtRest({ value, expiresAt, renewAt })
    const sealed = yield* aead.encrypt(key, utf8.encode(text), { nonce, aad: textOf(grant) })
    yield* entries.set(yield* nameOf(grant), Bytes.join([nonce, sealed]))
  })

  /** Logs a failure or a timeout of an access to the store as a warning, and returns `fallback`. */
  const tolerate =
    <B>(method: string, fallback: B) =>
    <A, E extends { readonly _tag: string }>(attempt: Effect.Effect<A, E>) =>
      attempt.pipe(
        Effect.timeout(patience),
        Effect.catch((error) =>
          Effect.logWarning(`The token store failed (${method}: ${error._tag}); continuing without it`).pipe(
            Effect.as(fallback)
          )
        )
      )

  return {
    load: (grant) => load(grant).pipe(tolerate("load", Option.none<TokenStore.Token>())),
    save: (grant, token) => save(grant, token).pipe(tolerate("save", undefined)),
    forget: (grant) => Effect.flatMap(nameOf(grant), (name) => entries.remove(name)).pipe(tolerate("forget", undefined))
  } satisfies TokenStore.TokenStore["Service"]
})

/**
 * Shares tokens between processes with the same Auth Key and Auth Secret, through a `KeyValueStore`.
 *
 * **Details**
 *
 * An entry is encrypted (AES-256-GCM) with a key derived from the Auth Secret, and bound to its grant. Only a process
 * that has the secret can read the entry, and that process could request a token itself. An entry that cannot be
 * decrypted is ignored.
 *
 * **Gotchas**
 *
 * Processes do not coordinate: two processes that start at the same time may each request a token.
 *
 * @example
 * Tokens.layer().pipe(Layer.provide(KeyValueTokenStore.layer), Layer.provide(KeyValueStore.layerFileSystem(folder)))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<
  TokenStore.TokenStore,
  AuthError.CryptoUnavailable,
  Credentials.Credentials | KeyValueStore.KeyValueStore
> = Layer.effect(TokenStore.TokenStore, Effect.orDie(makeKeyValueStore)).pipe(Layer.provide([layerCrypto, Hmac.subtle]))
