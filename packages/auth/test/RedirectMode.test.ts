/**
 * Redirects on runtimes that differ in what `fetch` may be told of them. The real runtimes are in `scripts/runtimes`.
 */
import { FetchClient } from "@assembly-effect/auth"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as StreamSender from "@assembly-effect/auth/unstable/StreamSender"
import { afterEach, assert, describe, it, vi } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Stream } from "effect"
import { FetchHttpClient, HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

const { fetch, Request } = globalThis

/** The check of workerd, which refuses to be told that a redirect is an error. */
const refuseMode = (init: RequestInit | undefined) => {
  if (init?.redirect === "error") throw new TypeError('Invalid redirect value, must be one of "follow" or "manual".')
}

class EdgeRequest extends Request {
  constructor(input: RequestInfo | URL, init?: RequestInit) {
    refuseMode(init)
    super(input, init)
  }
}

const edgeFetch: typeof fetch = async (input, init) => {
  refuseMode(init)
  return fetch(input, init)
}

const patch = (url: string) =>
  HttpClientRequest.patch(url, {
    body: HttpBody.stream(Stream.make(new Uint8Array(3), new Uint8Array(2)), "application/octet-stream", 5)
  })

const send = (url: string) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    return (yield* StreamSender.send(client, patch(url), 1000)).answer.status
  }).pipe(Effect.provide(FetchHttpClient.layer), Effect.provideService(FetchHttpClient.Fetch, edgeFetch))

afterEach(() => {
  vi.unstubAllGlobals()
})

describe("a streamed request, where fetch refuses the redirect mode `error`", () => {
  it.live("sends a streamed request if fetch refuses the redirect mode `error`", function* () {
    vi.stubGlobal("Request", EdgeRequest)
    const server = yield* Server.answering(Server.text(204, ""))
    assert.strictEqual(yield* send(server.baseUrl), 204)
    assert.strictEqual(server.received.length, 1)
  })

  it.live("follows no redirect of a streamed request if fetch refuses the redirect mode `error`", function* () {
    vi.stubGlobal("Request", EdgeRequest)
    const server = yield* Server.make
    const other = yield* Server.answering(Server.text(204, ""))
    for (const status of [301, 302, 303, 307, 308]) {
      server.script(Server.text(status, "", { location: `${other.baseUrl}/b` }))
      assert.isTrue(Outcome.isRedirect(yield* send(server.baseUrl)))
    }
    assert.strictEqual(server.received.length, 5)
    assert.isEmpty(other.received)
  })
})

describe("the options of fetch that an application sets", () => {
  const application = {
    dispatcher: { dispatch: () => true },
    credentials: "include",
    headers: { "x-company": "a", "x-request": "application" },
    cf: { cacheTtl: 5 },
    redirect: "follow"
  } as const
  const init = Layer.succeed(FetchHttpClient.RequestInit, application)

  const headers = { "x-request": "ours" }
  const limits = { maxBytes: 1000, millis: Infinity }

  /** Sends two requests, because the first request of a client is observed for the first time. */
  const twice = Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    yield* Sender.of(client)({ method: "GET", origin: "https://api.example.com", path: "/a", headers }, limits)
    yield* StreamSender.send(client, HttpClientRequest.setHeaders(patch("https://api.example.com/a"), headers), 1000)
  })
  const onCall = Effect.provideService(twice, FetchHttpClient.RequestInit, application)
  const wrap = HttpClient.mapRequest(HttpClientRequest.setHeader("x-wrapped", "yes"))
  const wrapped = Effect.updateService(twice, HttpClient.HttpClient, wrap)
  const hidden = Effect.updateService(
    onCall,
    HttpClient.HttpClient,
    HttpClient.transformResponse(Effect.provideService(HttpClient.TracerDisabledWhen, () => true))
  )

  const uses: Readonly<Record<string, (fetched: Layer.Layer<never>) => Effect.Effect<void, unknown>>> = {
    "for a call": (fetched) => Effect.provide(onCall, [FetchHttpClient.layer, fetched]),
    "by a Layer of the program": (fetched) => Effect.provide(twice, [FetchHttpClient.layer, init, fetched]),
    "by the Layer of the client": (fetched) =>
      Effect.provide(twice, Layer.provide(FetchHttpClient.layer, [init, fetched])),
    "by the Layer of a client that is wrapped": (fetched) =>
      Effect.provide(wrapped, Layer.provide(FetchHttpClient.layer, [init, fetched])),
    "for a call of FetchClient": (fetched) => Effect.provide(onCall, [FetchClient.layer, fetched]),
    "by the Layer of FetchClient": (fetched) => Effect.provide(twice, Layer.provide(FetchClient.layer, [init, fetched]))
  }
  it.effect.each(Object.entries(uses))(
    "sends with the fetch options that are set %s, except redirect",
    function* ([, use]) {
      const seen: Array<RequestInit> = []
      const fetched: typeof fetch = async (_, options) => {
        seen.push(options ?? {})
        return new Response(null, { status: 204 })
      }
      yield* use(Layer.succeed(FetchHttpClient.Fetch, fetched))
      const found = seen.map(({ redirect }) => redirect)
      assert.deepStrictEqual(found, ["manual", "error"])
      for (const options of seen) {
        const { cf, credentials, dispatcher } = application
        assert.deepInclude<object>(options, { cf, credentials, dispatcher })
        assert.deepInclude(options.headers, { "x-company": "a", "x-request": "ours" })
      }
    }
  )

  it.effect("sends with redirect `error` after the first response if the client hides its sends", function* () {
    const modes: Array<unknown> = []
    const fetched: typeof fetch = async (_, options) => {
      modes.push(options?.redirect)
      return new Response(null, { status: 204 })
    }
    yield* Effect.provide(hidden, [FetchHttpClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetched)])
    assert.deepStrictEqual(modes, ["follow", "error"])
  })
})

describe("a response whose URL is not the requested one", () => {
  it.effect.each([
    ["https://api.example.com/a?b=c", 204],
    ["https://api.example.com/a?b=d#e", 204],
    ["https://api.example.com/other", "REQUEST_REDIRECTED"],
    ["https://api.example.com/", "REQUEST_REDIRECTED"],
    ["https://other.example.com/a?b=c", "REQUEST_REDIRECTED"]
  ] as const)("from %s to a request of https://api.example.com/a?b=c: %s", function* ([url, expected]) {
    const response = () => Object.defineProperty(new Response(null, { status: 204 }), "url", { value: url })
    const answered = HttpClient.make((request) => Effect.sync(() => HttpClientResponse.fromWeb(request, response())))
    const fetched: typeof fetch = async () => response()
    const outgoing = { method: "GET", origin: "https://api.example.com", path: "/a?b=c", headers: {} } as const
    const shown = HttpClient.HttpClient.use((client) =>
      Effect.match(Sender.of(client)(outgoing, { maxBytes: 1000, millis: Infinity }), {
        onSuccess: ({ status }): unknown => status,
        onFailure: (error) => ("code" in error ? error.code : error)
      })
    )
    assert.strictEqual(yield* Effect.provideService(shown, HttpClient.HttpClient, answered), expected)
    assert.strictEqual(
      yield* Effect.provide(shown, [FetchClient.layer, Layer.succeed(FetchHttpClient.Fetch, fetched)]),
      expected
    )
  })
})
