/** Whether a request that failed may have arrived. */
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import { assert, describe, it } from "@effect/vitest"
import { HttpClientError, HttpClientRequest } from "effect/http"

describe("After a connection is refused", () => {
  it.each([
    ["no", "no send", 0],
    ["no", "one send", 1],
    ["maybe", "two sends, of which the first may have arrived,", 2],
    ["maybe", "sends that nobody counts", undefined]
  ] as const)("sent is %s with %s", (expected, _, sends) => {
    const lost = Outcome.fromCause({ code: "ECONNREFUSED" }, { sends, knowsHost: true })
    assert.deepInclude(lost, { code: "ECONNREFUSED", sent: expected })
  })
})

describe("The syscall of an error decides", () => {
  it.each([
    ["no", "ECONNREFUSED", "connect"],
    ["no", "ECONNRESET", "connect"],
    ["maybe", "ECONNREFUSED", "read"]
  ] as const)("sent is %s after %s of %s", (expected, code, syscall) => {
    assert.deepInclude(Outcome.fromCause({ code, syscall }, { sends: 1, knowsHost: true }), { sent: expected })
  })
})

describe("A request that the client refuses before it sends", () => {
  const request = HttpClientRequest.get("/a")
  it.each([
    ["the URL is not valid", undefined, new HttpClientError.InvalidUrlError({ request })],
    ["this runtime cannot stream a request body", "STREAM_UNSUPPORTED", new HttpClientError.EncodeError({ request })]
  ] as const)("is not sent, although nobody counts the sends: %s", (description, code, reason) => {
    const { message: _, ...lost } = Outcome.diagnose(new HttpClientError.HttpClientError({ reason }))
    assert.deepInclude(lost, { description, sent: "no", permanent: true, ...(code === undefined ? {} : { code }) })
  })
})
