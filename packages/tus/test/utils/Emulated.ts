/** The client of the emulator in the context. */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** A client that reaches the emulator at another URL, such as that of a proxy. */
export const clientAt = (toBaseUrl: (baseUrl: string) => string) =>
  Layer.unwrap(
    Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) =>
      AssemblyClient.layer({ baseUrl: toBaseUrl(baseUrl) }).pipe(
        Layer.provide(Authenticator.layerSigned()),
        Layer.provide(Credentials.layer(credentials))
      )
    )
  )

export const client = clientAt((baseUrl) => baseUrl)

/** An emulator, the client of undici, and the client of the emulator. */
export const live = Layer.provideMerge(client, Layer.merge(Emulator.layer(), NodeHttpClient.layerUndici))
