/**
 * Signatures with `node:crypto`.
 */
import type * as Credentials from "@assembly-effect/auth/Credentials"
import * as Signer from "@assembly-effect/auth/Signer"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createHmac, createSecretKey } from "node:crypto"

/**
 * Signs synchronously, in the calling thread. WebCrypto computes each signature in another thread, and the switch
 * between threads takes many times longer than the computation. An empty secret causes a defect.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options?: Signer.Options): Layer.Layer<Signer.Signer, InvalidRequest, Credentials.Credentials> =>
  Signer.layerFrom((secret, algorithm) => {
    const key = createSecretKey(Redacted.value(secret), "utf8")
    return (text) => createHmac(algorithm, key).update(text).digest("hex")
  }, options)
