/**
 * Who asks is a Layer. The program and the client stay as they are; the signature of each request, or a bearer token
 * that somebody else obtained, is one line.
 */
import { AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials, Signer } from "@assembly-effect/auth"
import { Layer, Redacted } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { FetchHttpClient } from "effect/http"
import { createHmac, createSecretKey } from "node:crypto"

const signed = (credentials: { readonly key: string; readonly secret: Redacted.Redacted }) =>
  Authenticator.layerSigned().pipe(Layer.provide(Credentials.layer(credentials)))

/** On Node one key object serves all signatures; WebCrypto, the default, asks another thread for each. */
const signedOnNode = (credentials: { readonly key: string; readonly secret: Redacted.Redacted }) =>
  Authenticator.layerSignedNoDeps().pipe(
    Layer.provide([
      Signer.layerFrom((secret, algorithm) => {
        const key = createSecretKey(Redacted.value(secret), "utf8")
        return (text) => createHmac(algorithm, key).update(text).digest("hex")
      }),
      SecureRandom.layerWebCrypto
    ]),
    Layer.provide(Credentials.layer(credentials))
  )

const bearer = (token: Redacted.Redacted) => Authenticator.layerBearer(token)

const client = <E>(baseUrl: string, authenticator: Layer.Layer<Authenticator.Authenticator, E>) =>
  AssemblyClient.layer({ baseUrl }).pipe(Layer.provide([authenticator, FetchHttpClient.layer]))

export { bearer, client, signed, signedOnNode }
