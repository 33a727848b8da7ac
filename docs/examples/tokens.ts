/**
 * Bearer tokens instead of signatures: one is asked for with the Auth Key, every request uses it until shortly before it
 * expires, and one that the service refuses is replaced. Processes of one machine share it through a folder, encrypted
 * under a key that only the Auth Secret gives.
 */
import { AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials, Tokens, TokenStore } from "@assembly-effect/auth"
import { Layer, type Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import * as KeyValueStore from "effect/persistence/KeyValueStore"

export const client = (options: {
  readonly baseUrl: string
  readonly credentials: { readonly key: string; readonly secret: Redacted.Redacted }
  readonly folder: string
}) =>
  AssemblyClient.layer({ baseUrl: options.baseUrl }).pipe(
    Layer.provide(Authenticator.layerTokens),
    // One token that serves every operation of the program; without `scopes` each scope has its own.
    Layer.provide(Tokens.layer({ scopes: ["assemblies:read", "assemblies:write"] })),
    Layer.provide(TokenStore.layerKeyValueStore),
    Layer.provide([
      KeyValueStore.layerFileSystem(options.folder),
      Credentials.layer(options.credentials),
      FetchHttpClient.layer
    ])
  )
