/** Whether a request of which a send failed may have arrived. */
import * as Diagnosis from "@assembly-effect/auth/unstable/Diagnosis"
import { assert, describe, it } from "@effect/vitest"

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
