/**
 * Uses bearer tokens instead of signatures. A token is requested with the Auth Key, and used for every request until
 * shortly before it expires. A token that the service refuses is replaced. Processes of one machine share the token
 * through a folder, encrypted with a key that is derived from the Auth Secret.
 */
import { AssemblyClient } from "@assembly-effect/api"
import { Credentials, FetchClient, Tokens } from "@assembly-effect/auth"
import * as KeyValueTokenStore from "@assembly-effect/auth/KeyValueTokenStore"
import { Layer, type Redacted } from "effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"

export const client = (options: {
  readonly baseUrl: string
  readonly credentials: { readonly key: string; readonly secret: Redacted.Redacted }
  readonly folder: string
}) =>
  AssemblyClient.layer({ baseUrl: options.baseUrl }).pipe(
    Layer.provide(Tokens.layerAuthenticator),
    // One token for all operations of the program. Without `scopes`, each scope has its own token.
    Layer.provide(Tokens.layer({ scopes: ["assemblies:read", "assemblies:write"] })),
    Layer.provide(KeyValueTokenStore.layer),
    Layer.provide([
      KeyValueStore.layerFileSystem(options.folder),
      Credentials.layer(options.credentials),
      FetchClient.layer
    ])
  )
