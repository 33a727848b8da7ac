/** The client of the emulator in the context. */
import { Assemblies, AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials } from "@assembly-effect/auth"
import { Emulator } from "@assembly-effect/emulator"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { DateTime, Effect, Layer, Redacted, Stream } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest } from "effect/http"

/** A client that signs with an Auth Key. */
export const signed = (
  options: AssemblyClient.Options,
  credentials = { key: "key", secret: Redacted.make("a secret of the tests") }
) =>
  AssemblyClient.layer(options).pipe(
    Layer.provide(Authenticator.layerSigned()),
    Layer.provide(Credentials.layer(credentials))
  )

/** A client that reaches the emulator at another URL, such as that of a proxy. */
export const clientAt = (toBaseUrl: (baseUrl: string, localUrl: string) => string) =>
  Layer.unwrap(
    Effect.map(Emulator.Emulator, ({ baseUrl, credentials, localUrl }) =>
      signed({ baseUrl: toBaseUrl(baseUrl, localUrl) }, credentials)
    )
  )

export const client = clientAt((baseUrl) => baseUrl)

/** An emulator, the client of undici, and the client of the emulator. */
export const live = Layer.provideMerge(client, Layer.merge(Emulator.layer(), NodeHttpClient.layerUndici))

/** A client of the emulator whose requests go through another HTTP client. */
export const over = (http: HttpClient.HttpClient) =>
  Layer.fresh(client).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient, http)))

/** A client of the emulator whose requests with this method never leave. `onRequest` sees every request. */
export const without = (method: string, onRequest: (request: HttpClientRequest.HttpClientRequest) => void = () => {}) =>
  Layer.unwrap(
    Effect.map(HttpClient.HttpClient, (http) =>
      over(
        HttpClient.make((request) => {
          onRequest(request)
          const reason = new HttpClientError.TransportError({ request, description: "the network is down" })
          return request.method === method
            ? Effect.fail(new HttpClientError.HttpClientError({ reason }))
            : http.execute(request)
        })
      )
    )
  )

const fromDate = DateTime.makeUnsafe("2020-01-01")

/** The Assemblies with this keyword. */
export const assembliesOf = (keyword: string) =>
  Effect.map(Stream.runCollect(Assemblies.listAll({ fromDate, keywords: [keyword] })), (entries) => [...entries])

/** Waits until so many Assemblies with this keyword are executing. */
export const untilExecuting = (keyword: string, count: number) =>
  Effect.repeat(assembliesOf(keyword), {
    until: (entries) => entries.filter(({ ok }) => ok === "ASSEMBLY_EXECUTING").length === count
  })

/** The names of the files that the Assemblies with this keyword have stored. */
export const filesOf = (keyword: string) =>
  Effect.flatMap(assembliesOf(keyword), (entries) =>
    Effect.map(
      Effect.forEach(entries, ({ id }) => Assemblies.get(id)),
      (statuses) => statuses.flatMap(({ uploads }) => (uploads ?? []).map(({ name }) => name))
    )
  )

/** The ids of all Assemblies. */
export const ids = Effect.suspend(() =>
  Effect.map(Stream.runCollect(Assemblies.listAll({ fromDate })), (all) => all.map(({ id }) => id))
)

/** The Status of each Assembly that is not among these. */
export const since = Effect.fnUntraced(function* (before: ReadonlyArray<string>) {
  const created = (yield* ids).filter((id) => !before.includes(id))
  return yield* Effect.forEach(created, (id) => Assemblies.get(id))
})
