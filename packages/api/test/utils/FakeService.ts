/**
 * An HttpClient in memory, for tests with the TestClock: it responds by a script and counts requests.
 */
import { Authenticator, Credentials, Signer } from "@assembly-effect/auth"
import { Clock, Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientError, type HttpClientRequest, HttpClientResponse } from "effect/http"
import { createHmac } from "node:crypto"
import { AssemblyClient } from "@assembly-effect/api"

type Exchange = Effect.Effect<Response, HttpClientError.HttpClientError>

/** One entry of a script. */
export type Line = (request: HttpClientRequest.HttpClientRequest, url: URL) => Exchange

export const json = (status: number, body: unknown, headers?: Readonly<Record<string, string>>): Line => {
  const text = JSON.stringify(body)
  return () => Effect.sync(() => new Response(text, { status, headers: { ...headers } }))
}

export const text =
  (status: number, body: string, headers?: Readonly<Record<string, string>>): Line =>
  () =>
    Effect.sync(() => new Response(body, { status, headers: { ...headers } }))

export const lost: Line = (request) =>
  Effect.fail(new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) }))

export const silence: Line = () => Effect.never

/** A client that responds entry by entry; the last entry is repeated. `times` are those of the requests, in seconds. */
export const make = (...lines: ReadonlyArray<Line>) => {
  const requests: Array<URL> = []
  const times: Array<number> = []
  const methods: Array<string> = []
  const http = HttpClient.make((request, url) => {
    const line = lines[Math.min(requests.length, lines.length - 1)]
    requests.push(url)
    methods.push(request.method)
    return line === undefined
      ? Effect.die("no line in the script")
      : Effect.flatMap(Clock.currentTimeMillis, (now) => {
          times.push(now / 1000)
          return Effect.map(line(request, url), (response) => HttpClientResponse.fromWeb(request, response))
        })
  })
  return { requests, methods, times, layer: Layer.succeed(HttpClient.HttpClient, http) }
}

export const credentials = Credentials.layer({ key: "test-key", secret: Redacted.make("test-secret") })

/** Signs at once, because the TestClock does not wait for WebCrypto's threads. */
const signer = Layer.succeed(Signer.Signer, {
  sign: (params) =>
    Effect.sync(() =>
      Redacted.make(`sha384:${createHmac("sha384", "test-secret").update(params).digest("hex")}`, {
        label: "signature"
      })
    )
})

/** Signs requests, without waiting for threads. */
export const authenticated = Authenticator.layerSignedNoDeps().pipe(Layer.provide([credentials, signer]))

/** A client with this script and signed requests. */
export const client = (
  service: ReturnType<typeof make>,
  options?: Partial<AssemblyClient.Options>
): Layer.Layer<AssemblyClient.AssemblyClient> =>
  AssemblyClient.layer({ baseUrl: "https://api2.example.com", ...options }).pipe(
    Layer.provide([authenticated, service.layer]),
    Layer.orDie
  )
