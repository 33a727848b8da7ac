/** Clients of the emulator in the context. */
import { AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials } from "@assembly-effect/auth"
import { Emulator } from "@assembly-effect/emulator"
import { Effect, Layer, type Redacted } from "effect"

/** Signs with the first Auth Key of the emulator, or with another one. */
export const signed = (options: { readonly key?: string; readonly secret?: Redacted.Redacted } = {}) =>
  Layer.unwrap(
    Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) =>
      AssemblyClient.layer({ baseUrl }).pipe(
        Layer.provide(Authenticator.layerSigned()),
        Layer.provideMerge(Credentials.layer({ ...credentials, ...options }))
      )
    )
  )

/** Runs a program with a client that signs with an Auth Key. */
export const as =
  ({ key, secret }: { readonly key: string; readonly secret: Redacted.Redacted }) =>
  <A, E, R>(program: Effect.Effect<A, E, R>) =>
    Effect.provide(program, signed({ key, secret }))
