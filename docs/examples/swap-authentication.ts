/**
 * Who asks is a Layer. The program and the client stay as they are; the signature of each request, or a bearer token
 * that somebody else obtained, is one line.
 */
import { AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials } from "@assembly-effect/auth"
import { Layer, type Redacted } from "effect"
import { FetchHttpClient } from "effect/http"

const signed = (credentials: { readonly key: string; readonly secret: Redacted.Redacted }) =>
  Authenticator.layerSigned().pipe(Layer.provide(Credentials.layer(credentials)))

const bearer = (token: Redacted.Redacted) => Authenticator.layerBearer(token)

const client = (baseUrl: string, authenticator: Layer.Layer<Authenticator.Authenticator>) =>
  AssemblyClient.layer({ baseUrl }).pipe(Layer.provide([authenticator, FetchHttpClient.layer]))

export { bearer, client, signed }
