/**
 * Redirects on runtimes that differ in what `fetch` may be told of them. The real runtimes are in `scripts/runtimes`.
 */
import * as Transport from "@assembly-effect/auth/unstable/Transport"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpBody from "effect/http/HttpBody"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Stream from "effect/Stream"
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
    return (yield* Transport.send(client, patch(url), { streaming: true })).status
  }).pipe(Effect.scoped, Effect.provide(FetchHttpClient.layer), Effect.provideService(FetchHttpClient.Fetch, edgeFetch))

afterEach(() => {
  vi.unstubAllGlobals()
})

describe("a streamed request, where fetch refuses the redirect mode `error`", () => {
  it.live("is sent", () =>
    Effect.gen(function* () {
      vi.stubGlobal("Request", EdgeRequest)
      const server = yield* Server.make
      server.script(Server.text(204, ""))
      assert.strictEqual(yield* send(server.baseUrl), 204)
      assert.strictEqual(server.received.length, 1)
    }).pipe(Effect.scoped)
  )

  it.live("follows no redirect", () =>
    Effect.gen(function* () {
      vi.stubGlobal("Request", EdgeRequest)
      const server = yield* Server.make
      const other = yield* Server.make
      other.script(Server.text(204, ""))
      for (const status of [301, 302, 303, 307, 308]) {
        server.script(Server.text(status, "", { location: `${other.baseUrl}/b` }))
        assert.isTrue(Transport.isRedirect(yield* send(server.baseUrl)))
      }
      assert.strictEqual(server.received.length, 5)
      assert.isEmpty(other.received)
    }).pipe(Effect.scoped)
  )
})
