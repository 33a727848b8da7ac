/** Whether a request that failed may have arrived. */
import * as Diagnosis from "@assembly-effect/auth/unstable/Diagnosis"
import { assert, describe, it } from "@effect/vitest"
import { HttpClientError, HttpClientRequest } from "effect/http"

describe("After a connection is refused", () => {
  it.each([
    ["no", "no send", 0],
    ["no", "one send", 1],
    ["maybe", "two sends, of which the first may have arrived,", 2],
    ["maybe", "sends that nobody counts", undefined]
  ] as const)("sent is %s with %s", (expected, _, sends) => {
    const lost = Diagnosis.fromCause({ code: "ECONNREFUSED" }, { sends, knowsHost: true })
    assert.deepInclude(lost, { code: "ECONNREFUSED", sent: expected })
  })
})

describe("The syscall of an error decides", () => {
  it.each([
    ["no", "ECONNREFUSED", "connect"],
    ["no", "ECONNRESET", "connect"],
    ["maybe", "ECONNREFUSED", "read"]
  ] as const)("sent is %s after %s of %s", (expected, code, syscall) => {
    assert.deepInclude(Diagnosis.fromCause({ code, syscall }, { sends: 1, knowsHost: true }), { sent: expected })
  })
})

describe("The code of a lost request decides", () => {
  it.each([
    ["no", false, "ECONNREFUSED ConnectionRefused EAI_AGAIN UND_ERR_CONNECT_TIMEOUT"],
    ["no", true, "UND_ERR_INVALID_ARG ERR_INVALID_URL ERR_HTTP_INVALID_HEADER_VALUE"],
    ["no", true, "CERT_HAS_EXPIRED UNABLE_TO_VERIFY_LEAF_SIGNATURE DEPTH_ZERO_SELF_SIGNED_CERT"],
    ["maybe", false, "ECONNRESET EPIPE UND_ERR_SOCKET ConnectionClosed EHOSTUNREACH ENETDOWN EADDRNOTAVAIL"],
    ["maybe", false, "ETIMEDOUT UND_ERR_HEADERS_TIMEOUT UND_ERR_BODY_TIMEOUT HPE_INVALID_CONSTANT EUNKNOWN"],
    ["maybe", false, "ERR_SSL_SSLV3_ALERT_BAD_RECORD_MAC"],
    ["maybe", true, "ERR_INVALID_ARG_TYPE EPROTO ERR_SSL_WRONG_VERSION_NUMBER ERR_SSL_TLSV1_ALERT_UNKNOWN_CA"]
  ] as const)("sent is %s and permanent is %s after %s", (expected, permanent, codes) => {
    for (const code of codes.split(" ")) {
      const lost = Diagnosis.fromCause({ code }, { sends: 1, knowsHost: true })
      assert.deepInclude(lost, { code, sent: expected, permanent })
    }
  })

  it.each([true, false])("ENOTFOUND is not sent; if the host is known (%s), a retry may succeed", (knowsHost) => {
    const lost = Diagnosis.fromCause({ code: "ENOTFOUND" }, { sends: 1, knowsHost })
    assert.deepInclude(lost, { sent: "no", permanent: !knowsHost })
  })
})

describe("A request that the client refuses before it sends", () => {
  const request = HttpClientRequest.get("/a")
  it.each([
    ["the URL is not valid", undefined, new HttpClientError.InvalidUrlError({ request })],
    ["this runtime cannot stream a request body", "STREAM_UNSUPPORTED", new HttpClientError.EncodeError({ request })]
  ] as const)("is not sent, although nobody counts the sends: %s", (description, code, reason) => {
    const { message: _, ...lost } = Diagnosis.diagnose(new HttpClientError.HttpClientError({ reason }))
    assert.deepInclude(lost, { description, sent: "no", permanent: true, ...(code === undefined ? {} : { code }) })
  })
})
