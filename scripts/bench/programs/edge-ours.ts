import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Effect from "effect/Effect"
import * as FetchClient from "@assembly-effect/auth/FetchClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

const client = AssemblyClient.layer({ baseUrl: "https://api2.example.com" }).pipe(
  Layer.provide([
    Authenticator.layerSigned().pipe(Layer.provide(Credentials.layer({ key: "key", secret: Redacted.make("secret") }))),
    FetchClient.layer
  ])
)

export default {
  fetch: () =>
    Assemblies.statistics({ region: "all", since: "2026-01-01T00:00:00Z" }).pipe(
      Effect.map((statistics) => Response.json(statistics.totalAssemblies)),
      Effect.provide(client),
      Effect.runPromise
    )
}
