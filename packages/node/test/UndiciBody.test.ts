import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as UndiciClient from "@assembly-effect/node/UndiciClient"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { assert, describe, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import type { ServerResponse } from "node:http"
import { Readable } from "node:stream"
import * as UndiciBody from "../src/internal/undiciBody.ts"

const maxResponseBytes = 64 * 1024

/** What a server does with the body of an answer. */
const bodies: Readonly<Record<string, (response: ServerResponse) => void>> = {
  "a whole list": (response) => response.end('{"items":[],"count":0}'),
  "a list in pieces of one byte": (response) => {
    for (const byte of '{"items":[],"count":0}') response.write(byte)
    response.end()
  },
  "no body": (response) => response.end(),
  "more than the limit": (response) => response.end(" ".repeat(2 * maxResponseBytes)),
  "bytes that are not UTF-8": (response) => response.end(Uint8Array.of(0xff, 0xfe)),
  "an incomplete body": (response) => {
    response.writeHead(200, { "content-length": "1000" })
    response.write('{"items":[')
    setImmediate(() => response.destroy())
  },
  "an error of the service": (response) => {
    response.statusCode = 400
    response.end('{"error":"INVALID_PARAMS_FIELD","message":"no"}')
  },
  "an error above the limit": (response) => {
    response.statusCode = 400
    response.end("x".repeat(4 * 1024 * 1024))
  },
  "an error that breaks off": (response) => {
    response.writeHead(400, { "content-length": "1000" })
    response.write('{"error":"INVALID')
    setImmediate(() => response.destroy())
  }
}

const serve = (answer: (response: ServerResponse) => void) => Loopback.serve((_, response) => answer(response))

const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }).pipe(RetryPolicy.none)

const client = (baseUrl: string, http: Layer.Layer<HttpClient.HttpClient>) =>
  AssemblyClient.layer({ baseUrl, maxResponseBytes }).pipe(
    Layer.provide([Authenticator.layerBearer(Redacted.make("token")), http])
  )

describe("UndiciClient reads a body as the stream of undici does", () => {
  it.live.each(Object.keys(bodies))("%s", (name) =>
    Effect.gen(function* () {
      const baseUrl = yield* serve(bodies[name] ?? (() => {}))
      const outcome = (http: Layer.Layer<HttpClient.HttpClient>) =>
        list.pipe(
          Effect.match({
            onSuccess: (page) => JSON.stringify(page),
            onFailure: (error) => `${error._tag}: ${error.message}`
          }),
          Effect.provide(client(baseUrl, http))
        )
      const expected = yield* outcome(NodeHttpClient.layerUndici)
      assert.strictEqual(yield* outcome(Layer.orDie(UndiciClient.layer)), expected)
    })
  )
})

describe("UndiciClient", () => {
  it.live("closes the connection when the reading of a body is interrupted", () =>
    Effect.gen(function* () {
      const begun = yield* Deferred.make<void>()
      const closed = yield* Deferred.make<void>()
      const baseUrl = yield* serve((response) => {
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
        response.write('{"items":[', () => Deferred.doneUnsafe(begun, Effect.void))
      })
      yield* Effect.gen(function* () {
        const fiber = yield* Effect.forkChild(list)
        yield* Deferred.await(begun)
        yield* Fiber.interrupt(fiber)
        yield* Deferred.await(closed)
      }).pipe(Effect.provide(client(baseUrl, Layer.orDie(UndiciClient.layer))))
    })
  )

  it.live("leaves an endless body at the limit", () =>
    Effect.gen(function* () {
      const closed = yield* Deferred.make<void>()
      const baseUrl = yield* serve((response) => {
        response.on("close", () => Deferred.doneUnsafe(closed, Effect.void))
        const more = () => {
          if (!response.destroyed) response.write(" ".repeat(16 * 1024), more)
        }
        more()
      })
      yield* Effect.gen(function* () {
        assert.strictEqual((yield* Effect.flip(list))._tag, "UnexpectedResponse")
        // The end of the client would close it as well.
        yield* Deferred.await(closed)
      }).pipe(Effect.provide(client(baseUrl, Layer.orDie(UndiciClient.layer))))
    })
  )
})

describe("a body that has ended before its reader begins", () => {
  const cause = new Error("the connection was lost")
  const outcome = (body: Readable) => {
    const request = HttpClientRequest.get("http://example.com")
    const response = Object.assign(HttpClientResponse.fromWeb(request, new Response()), { source: { body } })
    const reading = UndiciBody.reader(response, () => true)
    assert(reading !== undefined)
    // Without the check of the body, its events have passed, and the reader waits for ever.
    return reading.pipe(
      Effect.match({
        onSuccess: () => "whole",
        onFailure: ({ reason }) => ("cause" in reason && reason.cause instanceof Error ? reason.cause.message : "")
      }),
      Effect.timeoutOrElse({ duration: "5 seconds", orElse: () => Effect.succeed("waits for ever") })
    )
  }

  it.live.each<[how: string, end: (body: Readable) => void, expected: string]>([
    ["is whole if its end was read", (body) => body.push(null), "whole"],
    ["fails if it was destroyed", (body) => body.destroy(), "the connection closed before the end of the body"],
    ["fails with the error of the connection", (body) => body.destroy(cause), cause.message]
  ])("%s", ([, end, expected]) =>
    Effect.gen(function* () {
      const body = new Readable({ read: () => {} })
      const closed = new Promise((resolve) => body.once("close", resolve))
      body.on("error", () => {}).resume()
      end(body)
      yield* Effect.promise(() => closed)
      assert.strictEqual(yield* outcome(body), expected)
    })
  )
})
