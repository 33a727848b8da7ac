/**
 * Authentication is a Layer. The program and the client stay the same; one line selects signatures or an existing
 * bearer token.
 */
import { AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials, FetchClient, Signer } from "@assembly-effect/auth"
import { Layer, Redacted } from "effect"
import { createHmac, createSecretKey } from "node:crypto"

const signed = (credentials: { readonly key: string; readonly secret: Redacted.Redacted }) =>
  Authenticator.layerSigned().pipe(Layer.provide(Credentials.layer(credentials)))

/** On Node one key object computes all signatures. WebCrypto, the default, uses another thread for each signature. */
const signedOnNode = (credentials: { readonly key: string; readonly secret: Redacted.Redacted }) =>
  Authenticator.layerSignedNoDeps().pipe(
    Layer.provide(
      Signer.layerFrom((secret, algorithm) => {
        const key = createSecretKey(Redacted.value(secret), "utf8")
        return (text) => createHmac(algorithm, key).update(text).digest("hex")
      })
    ),
    Layer.provide(Credentials.layer(credentials))
  )

const bearer = (token: Redacted.Redacted) => Authenticator.layerBearer(token)

const client = <E>(baseUrl: string, authenticator: Layer.Layer<Authenticator.Authenticator, E>) =>
  AssemblyClient.layer({ baseUrl }).pipe(Layer.provide([authenticator, FetchClient.layer]))

export { bearer, client, signed, signedOnNode }
