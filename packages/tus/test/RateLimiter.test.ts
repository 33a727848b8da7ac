/**
 * Uploads behind a rate limiter, on the TestClock: the wait for a permit is no stall.
 */
import * as Guard from "@assembly-effect/api/Guard"
import * as UploadEvent from "@assembly-effect/tus/UploadEvent"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import { assert, describe, it } from "@effect/vitest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import * as Idle from "@assembly-effect/testkit/time/Idle"
import * as Scene from "./utils/Scene.ts"
import * as Upload from "./utils/Upload.ts"

const sizeOf = ({ body }: HttpClientRequest.HttpClientRequest) => {
  if (body._tag === "Uint8Array") return Effect.succeed(body.body.length)
  return body._tag === "Stream" ? Effect.map(Stream.runCollect(body.stream), sum) : Effect.succeed(0)
}
const sum = (pieces: Iterable<Uint8Array>) => Array.from(pieces).reduce((total, piece) => total + piece.length, 0)

/** A server in memory that stores what comes, after turning the first PATCH away; and when each request came. */
const makeServer = (turnAway?: Readonly<Record<string, string>>) => {
  const times: Array<readonly [method: string, second: number]> = []
  let offset = 0
  const http = HttpClient.make(
    Effect.fnUntraced(function* (request) {
      times.push([request.method, (yield* Clock.currentTimeMillis) / 1000])
      const refused = turnAway !== undefined && times.length === 2
      if (request.method === "PATCH" && !refused) offset += yield* Effect.orDie(sizeOf(request))
      const headers = {
        "tus-resumable": "1.0.0",
        "upload-offset": String(offset),
        "upload-length": "3000",
        location: "https://tus.example.com/resumable/files/a"
      }
      const status = request.method === "POST" ? 201 : request.method === "HEAD" ? 200 : 204
      return HttpClientResponse.fromWeb(
        request,
        refused ? new Response("", { status: 429, headers: turnAway }) : new Response(null, { status, headers })
      )
    })
  )
  return { times, http }
}

/** The events of an upload in requests of 1,000 bytes, run to its end on the TestClock. */
const upload = (http: HttpClient.HttpClient, limit: Guard.RateLimit) =>
  Effect.gen(function* () {
    const target = yield* UploadTarget.make({
      tusUrl: "https://tus.example.com/resumable/files/",
      assemblySslUrl: "https://api.example.com/assemblies/0123456789abcdef0123456789abcdef"
    })
    const options = {
      ...Scene.options,
      stallTimeout: "30 seconds",
      finishTimeout: "30 seconds",
      chunkSize: 1000
    } as const
    const events = Upload.events(target, UploadSource.fromBytes(Scene.content(3000)), options).pipe(
      Stream.runCollect,
      Effect.provide(Guard.layerRateLimiter(limit)),
      Effect.provideService(HttpClient.HttpClient, http)
    )
    return Array.from((yield* Idle.passTime(events)).value)
  })

describe("an upload behind a rate limiter", () => {
  it.effect("waits longer for a permit than a request may stall", () =>
    Effect.gen(function* () {
      const { http, times } = makeServer()
      const events = yield* upload(http, { limit: 1, window: "40 seconds" })
      assert.isFalse(events.some(UploadEvent.$is("Retrying")))
      assert.isTrue(events.some(UploadEvent.$is("Completed")))
      assert.deepStrictEqual(
        times.map(([, second]) => second),
        times.map((_, index) => index * 40)
      )
    })
  )

  it.effect("pauses after a 429, with every request to that origin", () =>
    Effect.gen(function* () {
      const { http, times } = makeServer({ "retry-after": "50" })
      const events = yield* upload(http, { limit: 100, window: "1 second" })
      assert.isTrue(events.some(UploadEvent.$is("Completed")))
      const [, refused = ["", 0], next = ["", 0]] = times
      assert.isAtLeast(next[1] - refused[1], 50)
    })
  )
})
