/**
 * What makes a request prove who asks (spec.md, "Authentication").
 */
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import * as Credentials from "./Credentials.ts"
import * as Signer from "./Signer.ts"

/**
 * A request before anybody vouched for it. `params` are encoded, `nonceIn` says where the operation carries its nonce,
 * `scope` what the Auth Key or token must grant.
 */
export interface Unauthenticated {
  readonly params: Schema.JsonObject
  readonly nonceIn: "params" | "auth"
  readonly scope: string | undefined
}

/**
 * The proof, and the params serialized once: that text is what was signed and what has to be sent.
 */
export type Proof =
  | { readonly _tag: "Signature"; readonly params: string; readonly signature: Redacted.Redacted }
  | { readonly _tag: "Bearer"; readonly params: string; readonly token: Redacted.Redacted }

/**
 * The one service that operations need. Each attempt asks again, so each carries a fresh nonce and expiry.
 */
export class Authenticator extends Context.Service<
  Authenticator,
  {
    readonly authenticate: (request: Unauthenticated) => Effect.Effect<Proof>
  }
>()("@assembly-effect/auth/Authenticator") {}

/**
 * Signed params: `auth.key`, `auth.expires` and a nonce are added, then the text is signed. `window` is how long a
 * signature stays valid, 5 minutes by default.
 */
export const layerSignedNoDeps = (options?: {
  readonly window?: Duration.Input | undefined
}): Layer.Layer<Authenticator, never, Credentials.Credentials | Signer.Signer | SecureRandom.SecureRandom> =>
  Layer.effect(
    Authenticator,
    Effect.gen(function* () {
      const { key } = yield* Credentials.Credentials
      const signer = yield* Signer.Signer
      const random = yield* SecureRandom.SecureRandom
      const window = Duration.fromInputUnsafe(options?.window ?? "5 minutes")

      return Authenticator.of({
        authenticate: Effect.fnUntraced(function* ({ nonceIn, params }) {
          const expires = DateTime.formatIso(DateTime.addDuration(yield* DateTime.now, window))
          const nonce = yield* random.uuidV4()
          const text = JSON.stringify(
            nonceIn === "auth"
              ? { auth: { key, expires, nonce }, ...params }
              : { auth: { key, expires }, nonce, ...params }
          )
          return { _tag: "Signature", params: text, signature: yield* signer.sign(text) }
        })
      })
    })
  )

/**
 * Signed params with HMAC and random numbers of WebCrypto.
 *
 * @example
 * Authenticator.layerSigned().pipe(Layer.provide(Credentials.layerConfig))
 */
export const layerSigned = (options?: {
  readonly window?: Duration.Input | undefined
  readonly algorithm?: Signer.Algorithm | undefined
}): Layer.Layer<Authenticator, never, Credentials.Credentials> =>
  layerSignedNoDeps(options).pipe(Layer.provide([Signer.layerHmac(options), SecureRandom.layerWebCrypto]))

/**
 * A bearer token that somebody else obtained. The request carries neither `auth` nor a signature.
 */
export const layerBearer = (token: Redacted.Redacted): Layer.Layer<Authenticator> =>
  Layer.succeed(Authenticator, {
    authenticate: ({ params }) => Effect.succeed({ _tag: "Bearer", params: JSON.stringify(params), token })
  })
