/** Bodies are read up to a limit, however long they are. */
import * as Transport from "@assembly-effect/auth/unstable/Transport"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as Idle from "@assembly-effect/testkit/time/Idle"

const maxBytes = 1000

const respond = (body: BodyInit) =>
  HttpClientResponse.fromWeb(HttpClientRequest.get("https://api.example.com"), new Response(body))

/** An endless body in pieces of 100 bytes, and the number of bytes that were requested from it. */
const endless = () => {
  const seen = { bytes: 0 }
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        seen.bytes += 100
        // If reading never stopped, this test would hang without a message.
        if (seen.bytes > 100 * maxBytes) controller.close()
        else controller.enqueue(new Uint8Array(100).fill(0x78))
      }
    },
    { highWaterMark: 0 }
  )
  return { response: respond(stream), seen }
}

describe("A body", () => {
  it.effect("of exactly the limit is read, one byte more is refused", () =>
    Effect.gen(function* () {
      const body = "x".repeat(maxBytes)
      assert.strictEqual(yield* Transport.readText(respond(body), { maxBytes }), body)
      assert.deepStrictEqual(yield* Transport.readError(respond(body), { maxBytes }), {
        text: body,
        description: undefined
      })
      const problem = "a body of more than 1000 bytes"
      assert.include(yield* Effect.flip(Transport.readText(respond(`${body}x`), { maxBytes })), {
        description: problem
      })
      assert.deepStrictEqual(yield* Transport.readError(respond(`${body}x`), { maxBytes }), {
        text: body,
        description: problem
      })
    })
  )

  it.effect("is gathered whole up to the limit, and too large above it", () =>
    Effect.gen(function* () {
      const endOf = (response: HttpClientResponse.HttpClientResponse) =>
        Effect.map(Transport.gather(response, { maxBytes }), ({ end }) => end)
      assert.strictEqual(yield* endOf(respond("x".repeat(maxBytes))), "whole")
      assert.strictEqual(yield* endOf(respond("")), "whole")
      assert.strictEqual(yield* endOf(respond("x".repeat(maxBytes + 1))), "tooLarge")
      const { response, seen } = endless()
      assert.strictEqual(yield* endOf(response), "tooLarge")
      assert.isAtMost(seen.bytes, maxBytes + 300)
    })
  )

  it.effect("that does not end is left after the limit", () =>
    Effect.gen(function* () {
      const ok = endless()
      yield* Effect.flip(Transport.readText(ok.response, { maxBytes }))
      assert.isAtMost(ok.seen.bytes, maxBytes + 300)
      const error = endless()
      assert.strictEqual((yield* Transport.readError(error.response, { maxBytes })).text.length, maxBytes)
      assert.isAtMost(error.seen.bytes, maxBytes + 300)
    })
  )

  it.effect("is read whole where a client gives several of its pieces at once", () =>
    Effect.gen(function* () {
      const pieces = ["one ", "two ", "three"].map((text) => new TextEncoder().encode(text))
      const response = Object.create(respond(""), { stream: { value: Stream.fromArray(pieces) } })
      assert.strictEqual(yield* Transport.readText(response, { maxBytes }), "one two three")
    })
  )

  it.effect("that is not UTF-8 is refused, and told with its bytes", () =>
    Effect.gen(function* () {
      const body = Uint8Array.of(0x61, 0xff)
      const problem = "a body that is not UTF-8"
      assert.deepInclude(yield* Effect.flip(Transport.readText(respond(body), { maxBytes })), {
        description: problem,
        start: body
      })
      assert.deepStrictEqual(yield* Transport.readError(respond(body), { maxBytes }), {
        text: "a\ufffd",
        description: problem
      })
    })
  )

  it.effect("that is too long is told with the pieces that were read", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Transport.readText(endless().response, { maxBytes }))
      assert.strictEqual(error._tag, "UnreadableBody")
      if (error._tag === "UnreadableBody") assert.deepStrictEqual(error.start, new Uint8Array(1_100).fill(0x78))
    })
  )
})

describe("A limit of time", () => {
  it.effect("does not wait for the body of an error that was read before", () =>
    Effect.gen(function* () {
      // The error is read, and a second request of the exchange has no answer.
      const exchange = Effect.andThen(Transport.readError(respond("no"), { maxBytes }), Effect.never)
      const limit = Effect.andThen(Effect.sleep("10 seconds"), Effect.fail("too late"))
      const idle = Idle.make()
      const fiber = yield* Effect.forkChild(idle.within(Effect.flip(Transport.withLimit(exchange, limit))))
      yield* idle.settled
      yield* TestClock.adjust("10 seconds")
      assert.isDefined(fiber.pollUnsafe())
      assert.strictEqual(yield* Fiber.join(fiber), "too late")
    })
  )
})
