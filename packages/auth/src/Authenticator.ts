/**
 * Authenticates requests (spec.md, "Authentication").
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type { SecureUrl } from "@assembly-effect/schema/unstable/SecureUrl"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Context from "effect/Context"
import { WebCrypto } from "effect/crypto/WebCrypto"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as AuthError from "./AuthError.ts"
import * as Credentials from "./Credentials.ts"
import * as Signer from "./Signer.ts"
import * as Unique from "./unstable/Unique.ts"

/**
 * A request that is not authenticated yet.
 *
 * - `baseUrl`: the checked base URL of the request. A token is requested only from this URL.
 * - `params`: the encoded params. An `auth` in the params has the restrictions of the uploads, such as `max_size`; a
 *   signature adds the Auth Key and the expiry to it.
 * - `nonceIn`: the object that contains the nonce: the params themselves, or their `auth`.
 * - `scope`: the scope that the Auth Key or the token must have.
 * - `clockSkew`: how far the service's clock is ahead of the local clock, if known; negative if the service's clock is
 *   behind. The expiry of a signature is computed in the service's time.
 * - `now`: the local time, in milliseconds since 1970.
 *
 * @since 0.1.0
 * @category models
 */
export interface Unauthenticated {
  readonly baseUrl: SecureUrl
  readonly params: Schema.JsonObject
  readonly nonceIn: "params" | "auth"
  readonly scope: string | undefined
  readonly clockSkew?: Duration.Duration | undefined
  readonly now: number
}

/**
 * The proof of a request (a signature or a token), and the `params` of the request as text. A signature is valid only
 * for exactly this text, so exactly this text must be sent.
 *
 * @since 0.1.0
 * @category models
 */
export type Proof =
  | { readonly _tag: "Signature"; readonly params: string; readonly signature: Redacted.Redacted }
  | { readonly _tag: "Bearer"; readonly params: string; readonly token: Redacted.Redacted }

/**
 * The Effect service that authenticates operations, with signatures or with tokens.
 *
 * - `authenticate`: called for each attempt, so that each attempt has a fresh nonce and expiry. The Effect that it returns
 *   is run at most once; `Effect.succeed` costs least. A function that throws is a defect.
 * - `refused`: called if the service did not accept a proof. `"retry"` means that another proof may be accepted; the
 *   caller then makes exactly one more attempt.
 * - `corrected`: called before a request is repeated with a corrected clock, with the new `clockSkew`.
 * - `secrets`: texts that no error may repeat besides the proof, such as the Auth Secret, which a service may echo.
 * - `isImmediate`: whether `authenticate` never waits, for example for a network. No time limit, not even a deadline,
 *   then ends it, so a wrapper that waits must set it to false.
 *
 * @since 0.1.0
 * @category services
 */
export class Authenticator extends Context.Service<
  Authenticator,
  {
    readonly authenticate: (request: Unauthenticated) => Effect.Effect<Proof, AuthError.AuthError>
    readonly refused: (proof: Proof, refusal: AuthError.Refusal) => Effect.Effect<"retry" | "final">
    readonly corrected?: ((clockSkew: Duration.Duration) => Effect.Effect<void>) | undefined
    readonly secrets?: ReadonlyArray<Redacted.Redacted> | undefined
    readonly isImmediate?: boolean | undefined
  }
>()("@assembly-effect/auth/Authenticator") {}

/** A retry with the same key or token would be refused again. */
const final = () => Effect.succeed("final" as const)

const SignedSettings = Schema.Struct({ window: Schema.optional(Rules.duration) })

const decodeSigned = Rules.decoder("Authenticator.layerSigned", SignedSettings)

/**
 * Authenticates with signed params: adds `auth.key`, `auth.expires` and a nonce to the params, then signs their text
 * (spec.md, "Authentication"). `window` is how long a signature is valid, 5 minutes by default. An option that breaks its
 * rule fails with `InvalidRequest`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSignedNoDeps = (
  options: Schema.Codec.Encoded<typeof SignedSettings> = {}
): Layer.Layer<Authenticator, InvalidRequest, Credentials.Credentials | Signer.Signer> =>
  Layer.effect(
    Authenticator,
    Effect.gen(function* () {
      const window = Duration.toMillis((yield* decodeSigned(options)).window ?? 300_000)
      const { key, secret } = yield* Credentials.Credentials
      const signer = yield* Signer.Signer
      const crypto = yield* WebCrypto

      return Authenticator.of({
        secrets: [secret],
        isImmediate: true,
        refused: final,
        authenticate: ({ clockSkew, nonceIn, now, params }) => {
          const validFor = clockSkew === undefined ? window : window + Duration.toMillis(clockSkew)
          const proof = { key, expires: now + validFor, nonce: Unique.make(crypto), nonceIn }
          return Signer.signParams(signer, params, proof)
        }
      })
    })
  )

/**
 * Authenticates with signed params; WebCrypto computes the HMAC and the random numbers. On a server that sends many
 * requests, `Signer.layerFrom` is faster.
 *
 * @example
 * Authenticator.layerSigned().pipe(Layer.provide(CredentialsConfig.layer))
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSigned = (
  options?: Schema.Codec.Encoded<typeof SignedSettings> & Signer.Options
): Layer.Layer<Authenticator, InvalidRequest | AuthError.CryptoUnavailable, Credentials.Credentials> =>
  layerSignedNoDeps(options).pipe(Layer.provide(Signer.layerHmac(options)))

/**
 * Matches a token of visible ASCII characters. A line break at the end, which a token from a file often has, is refused
 * too.
 */
const sendable = /^[\x21-\x7e]+$/

/**
 * Authenticates with a bearer token that the program supplies. The request contains neither `auth` nor a signature.
 *
 * The Layer fails with `InvalidCredentials` if the token is empty, or if it contains white space or another character
 * that is not visible ASCII.
 *
 * @example Authenticator.layerBearer(Redacted.make("my-token"))
 *
 * @since 0.1.0
 * @category layers
 */
export const layerBearer = (token: Redacted.Redacted): Layer.Layer<Authenticator, AuthError.InvalidCredentials> =>
  Layer.effect(
    Authenticator,
    Effect.suspend(() => {
      const text: unknown = Redacted.isRedacted(token) ? Redacted.value(token) : undefined
      if (typeof text !== "string" || !sendable.test(text)) {
        const message = "Expected a Redacted of printable ASCII characters without white space"
        return Effect.fail(new AuthError.InvalidCredentials({ issues: [{ path: ["token"], message }] }))
      }
      return Effect.succeed(
        Authenticator.of({
          isImmediate: true,
          refused: final,
          authenticate: ({ params }) => Effect.succeed({ _tag: "Bearer", params: JSON.stringify(params), token })
        })
      )
    })
  )
