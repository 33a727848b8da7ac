/**
 * The signature over serialized params. The algorithm is beyond the specification, which does not define it.
 */
import type * as Auth from "@assembly-effect/schema/unstable/Auth"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Context from "effect/Context"
import * as Mac from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as AuthError from "./AuthError.ts"
import * as Credentials from "./Credentials.ts"
import * as Hmac from "./internal/hmac.ts"

/**
 * Signs a text exactly as it will be sent, byte for byte.
 *
 * @since 0.1.0
 * @category services
 */
export class Signer extends Context.Service<
  Signer,
  { readonly sign: (text: string) => Effect.Effect<Redacted.Redacted> }
>()("@assembly-effect/auth/Signer") {}

export { Algorithm } from "./internal/hmac.ts"

const Settings = Schema.Struct({ algorithm: Schema.optional(Hmac.Algorithm) })

/**
 * The options of a Signer: the `algorithm` of the signatures, `sha384` by default. An unknown algorithm fails with
 * `InvalidRequest`.
 *
 * @since 0.1.0
 * @category options
 */
export type Options = Schema.Codec.Encoded<typeof Settings>

const decode = Rules.decoder("Signer", Settings)

const utf8 = new TextEncoder()

const toSignature = (algorithm: Hmac.Algorithm, digits: string): Redacted.Redacted =>
  Redacted.make(`${algorithm}:${digits}`, { label: "signature" })

/**
 * Signs params. The result contains the signed text, which must be sent as it is.
 *
 * The `key`, the `expires` and, at its place (`nonceIn`), the `nonce` are always those of the proof, also if the params
 * contain others. Other fields of `auth` in the params, such as `max_size`, stay.
 *
 * @since 0.1.0
 * @category utilities
 */
export const signParams = (
  signer: Signer["Service"],
  params: Schema.JsonObject,
  proof: {
    readonly key: string
    /** Milliseconds since 1970. */
    readonly expires: number
    readonly nonce: string
    readonly nonceIn: "params" | "auth"
  }
): Effect.Effect<{ readonly _tag: "Signature"; readonly params: string; readonly signature: Redacted.Redacted }> => {
  const { key, nonce, nonceIn } = proof
  // @effect-diagnostics-next-line globalDate:off
  const expires = new Date(proof.expires).toISOString()
  const auth = { ...(params["auth"] as Schema.JsonObject | undefined), key, expires } satisfies Auth.SignedAuthParams
  const text = JSON.stringify(nonceIn === "auth" ? { ...params, auth: { ...auth, nonce } } : { ...params, auth, nonce })
  return Effect.mapEager(signer.sign(text), (signature) => ({ _tag: "Signature", params: text, signature }))
}

/**
 * Makes a Signer for one secret, with `sha384` by default. Fails if the secret cannot be a key, for example if it is
 * empty.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* (options: Options & { readonly secret: Redacted.Redacted }) {
  const { algorithm = "sha384" } = yield* decode(options)
  const mac = yield* Mac.Mac
  const key = yield* Hmac.key(algorithm, options.secret)
  return Signer.of({
    sign: (text) =>
      // HMAC over bytes with an imported key cannot fail in a way that a caller could handle.
      Effect.map(Effect.orDie(mac.sign(key, utf8.encode(text))), (tag) => toSignature(algorithm, Hex.encode(tag)))
  })
})

/**
 * A Signer that uses an HMAC of the platform. `hmac` is called once, with the Auth Secret and the algorithm (`sha384`
 * by default), when the Layer is built. The function that `hmac` returns is called once for each text, and must return
 * the HMAC of the text's UTF-8 bytes in hexadecimal digits. An empty secret is a defect.
 *
 * **When to use**
 *
 * Use this Layer on a server that sends many requests. WebCrypto computes each signature in another thread, and the
 * switch to that thread takes much longer than the computation.
 *
 * @example
 * import { createHmac, createSecretKey } from "node:crypto"
 *
 * Authenticator.layerSignedNoDeps().pipe(
 *   Layer.provide(
 *     Signer.layerFrom((secret, algorithm) => {
 *       const key = createSecretKey(Redacted.value(secret), "utf8")
 *       return (text) => createHmac(algorithm, key).update(text).digest("hex")
 *     })
 *   ),
 *   Layer.provide(CredentialsConfig.layer)
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layerFrom = (
  hmac: (secret: Redacted.Redacted, algorithm: Hmac.Algorithm) => (text: string) => string,
  options: Options = {}
): Layer.Layer<Signer, InvalidRequest, Credentials.Credentials> =>
  Layer.effect(
    Signer,
    Effect.gen(function* () {
      const { algorithm = "sha384" } = yield* decode(options)
      const { secret } = yield* Credentials.Credentials
      if (Redacted.value(secret) === "") return yield* Effect.die("the Auth Secret is empty")
      const digits = hmac(secret, algorithm)
      return Signer.of({ sign: (text) => Effect.succeed(toSignature(algorithm, digits(text))) })
    })
  )

/**
 * Computes HMAC with WebCrypto, which edge runtimes and workers support too. An empty secret is a defect.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerHmac = (
  options?: Options
): Layer.Layer<Signer, InvalidRequest | AuthError.CryptoUnavailable, Credentials.Credentials> =>
  Layer.effect(
    Signer,
    Effect.flatMap(Credentials.Credentials, ({ secret }) => make({ secret, ...options }))
  ).pipe(Layer.provide(Hmac.layer))
