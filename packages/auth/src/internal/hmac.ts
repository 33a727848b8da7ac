import * as Mac from "effect/crypto/Mac"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Layer from "effect/Layer"
import * as Subtle from "./subtle.ts"
import type { Algorithm } from "../Signer.ts"

export const algorithms: { readonly [A in Algorithm]: Mac.Algorithm } = {
  sha384: Mac.hmacSha384,
  sha256: Mac.hmacSha256,
  sha1: Mac.hmacSha1
}

/** Computes HMAC with WebCrypto, which edge runtimes and workers support too. */
export const layer = Mac.layerWebCrypto.pipe(Layer.provide([SecureRandom.layerWebCrypto, Subtle.required]))
