/** Bodies are read up to a limit, however long they are. */
import * as Transport from "@assembly-effect/auth/unstable/Transport"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"

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
        problem: undefined
      })
      const problem = "a body of more than 1000 bytes"
      assert.include(yield* Effect.flip(Transport.readText(respond(`${body}x`), { maxBytes })), { problem })
      assert.deepStrictEqual(yield* Transport.readError(respond(`${body}x`), { maxBytes }), { text: body, problem })
    })
  )

  it.effect("that says nothing ends within the limit, or not", () =>
    Effect.gen(function* () {
      assert.isTrue(yield* Transport.ends(respond("x".repeat(maxBytes)), { maxBytes }))
      assert.isTrue(yield* Transport.ends(respond(""), { maxBytes }))
      assert.isFalse(yield* Transport.ends(respond("x".repeat(maxBytes + 1)), { maxBytes }))
      const { response, seen } = endless()
      assert.isFalse(yield* Transport.ends(response, { maxBytes }))
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
})
