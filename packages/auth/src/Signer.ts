/**
 * The signature over serialized params. Beyond the specification, which does not show the algorithm.
 */
import * as Context from "effect/Context"
import * as Mac from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Credentials from "./Credentials.ts"
import * as Hmac from "./internal/hmac.ts"

/**
 * Signs a text, byte for byte as it will be sent.
 */
export class Signer extends Context.Service<
  Signer,
  {
    readonly sign: (text: string) => Effect.Effect<Redacted.Redacted>
  }
>()("@assembly-effect/auth/Signer") {}

/**
 * The hash functions that the service knows; an Auth Key may pin one.
 */
export type Algorithm = Hmac.Algorithm

const utf8 = new TextEncoder()

/**
 * A Signer for one secret. The same function checks signatures on the service's side: `Mac` compares tags itself.
 */
export const make = Effect.fnUntraced(function* (options: {
  readonly secret: Redacted.Redacted
  readonly algorithm?: Algorithm | undefined
}) {
  const algorithm = options.algorithm ?? "sha384"
  const mac = yield* Mac.Mac
  const key = yield* Mac.key(Hmac.algorithms[algorithm], utf8.encode(Redacted.value(options.secret)))
  return Signer.of({
    sign: (text) =>
      mac.sign(key, utf8.encode(text)).pipe(
        Effect.map((tag) => Redacted.make(`${algorithm}:${Hex.encode(tag)}`, { label: "signature" })),
        // HMAC over bytes with an imported key has no failure that a caller could handle.
        Effect.orDie
      )
  })
})

/**
 * HMAC with WebCrypto, so it runs in edge runtimes and workers too. An empty secret is a defect of the program.
 */
export const layerHmac = (options?: {
  readonly algorithm?: Algorithm | undefined
}): Layer.Layer<Signer, never, Credentials.Credentials> =>
  Layer.effect(
    Signer,
    Effect.gen(function* () {
      const { secret } = yield* Credentials.Credentials
      return yield* make({ secret, ...options }).pipe(Effect.orDie)
    })
  ).pipe(Layer.provide(Hmac.layer))
