/** Bodies are read up to a limit, however long they are. */
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Sender from "@assembly-effect/auth/unstable/Sender"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { Effect, Stream } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"

const maxBytes = 1000

const respond = (body: BodyInit) =>
  HttpClientResponse.fromWeb(HttpClientRequest.get("https://api.example.com"), new Response(body))

/** The end of a body, its text, and the problem that the text has. */
const read = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(Sender.gather(response, maxBytes), (gathered) => ({
    end: gathered.end,
    bytes: gathered.bytes.length,
    ...Outcome.textOf(gathered, maxBytes)
  }))

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

describe("Sender.gather and Outcome.textOf", () => {
  const whole = "x".repeat(maxBytes)
  const tooLarge = { end: "tooLarge", bytes: maxBytes + 1, description: "a body of more than 1000 bytes" }
  it.effect.each([
    ["of 0 bytes", "", { end: "whole", bytes: 0, text: "", description: undefined }],
    ["of maxBytes", whole, { end: "whole", bytes: maxBytes, text: whole, description: undefined }],
    ["of maxBytes + 1", `${whole}x`, { ...tooLarge, text: whole }]
  ] as const)("a body %s is whole, or its text ends at the limit", function* ([, body, expected]) {
    assert.deepStrictEqual<object>(yield* read(respond(body)), expected)
  })

  it.effect("an endless body is read up to the piece that exceeds maxBytes", function* () {
    const { response, seen } = endless()
    assert.deepInclude(yield* read(response), { end: "tooLarge", bytes: maxBytes + 100 })
    assert.isAtMost(seen.bytes, maxBytes + 300)
  })

  it.effect("a body is read whole if the client emits several pieces in one chunk", function* () {
    const pieces = ["one ", "two ", "three"].map((text) => new TextEncoder().encode(text))
    const response = Object.create(respond(""), { stream: { value: Stream.fromArray(pieces) } })
    assert.deepInclude(yield* read(response), { text: "one two three" })
  })

  it.effect("a body that is not UTF-8 has a description, and replacement characters in its text", function* () {
    const description = "a body that is not UTF-8"
    assert.deepInclude(yield* read(respond(Uint8Array.of(0x61, 0xff))), { text: "a\ufffd", description })
  })
})
