/** The client of the emulator in the context. */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

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

/** The Assemblies with this keyword. */
export const assembliesOf = (keyword: string) =>
  Effect.map(
    Stream.runCollect(Assemblies.listAll({ fromDate: DateTime.makeUnsafe("2020-01-01"), keywords: [keyword] })),
    (entries) => [...entries]
  )

/** The names of the files that the Assemblies with this keyword have stored. */
export const filesOf = (keyword: string) =>
  Effect.flatMap(assembliesOf(keyword), (entries) =>
    Effect.map(
      Effect.forEach(entries, ({ id }) => Assemblies.get(id)),
      (statuses) => statuses.flatMap(({ uploads }) => (uploads ?? []).map(({ name }) => name))
    )
  )
