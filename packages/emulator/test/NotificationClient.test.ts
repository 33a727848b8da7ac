import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import type { LookupAddress } from "node:dns"
import { getDefaultAutoSelectFamily, setDefaultAutoSelectFamily } from "node:net"
import * as NotificationClient from "../src/internal/notifications/notificationClient.ts"
import { receiver } from "./notified.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

/** Requests a name that resolves to the given addresses in turn. Returns the outcome and the number of look-ups. */
const ask = Effect.fnUntraced(function* (
  reach: NotificationClient.Reach,
  url: string,
  answers: ReadonlyArray<ReadonlyArray<string>>
) {
  const left = [...answers]
  const resolve: NotificationClient.Resolve = (_hostname, _options, callback) => {
    const addresses = left.shift() ?? []
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(":") ? 6 : 4 }))
    )
  }
  const outbound = yield* NotificationClient.make(resolve)
  const request = HttpClientRequest.post(url).pipe(
    HttpClientRequest.bodyText("transloadit={}", "application/x-www-form-urlencoded")
  )
  const result = yield* Effect.result(Effect.scoped(outbound.execute(reach, request)))
  const outcome = result._tag === "Success" ? result.success.status : result.failure._tag
  return { outcome, resolved: answers.length - left.length }
})

it.live("a name is resolved once, and what it was resolved to is what is connected to", function* () {
  const { next, urlAt } = yield* receiver([], { host: "0.0.0.0" })
  const url = urlAt("rebound.example")
  // A second look-up would return a private address.
  assert.deepStrictEqual(yield* ask("loopback", url, [["127.0.0.1"], ["10.0.0.1"]]), { outcome: 200, resolved: 1 })
  yield* next
  assert.deepStrictEqual(yield* ask("loopback", url, [["10.0.0.1"], ["127.0.0.1"]]), {
    outcome: "OutOfReach",
    resolved: 1
  })
})

it.live("of several addresses only those within reach are tried", function* () {
  const { heard, next, urlAt } = yield* receiver([], { host: "0.0.0.0" })
  const url = urlAt("several.example")
  const all = [["0.0.0.0", "fe80::1", "127.0.0.2"]]
  assert.strictEqual((yield* ask("loopback", url, all)).outcome, 200)
  yield* next
  assert.strictEqual((yield* ask("public", url, all)).outcome, "OutOfReach")
  assert.strictEqual(yield* heard, 0)
  assert.strictEqual((yield* ask("any", url, [["0.0.0.0"]])).outcome, 200)
})

it.live("of several addresses the first within reach is tried, where only one is", function* () {
  const family = getDefaultAutoSelectFamily()
  yield* Effect.acquireRelease(
    Effect.sync(() => setDefaultAutoSelectFamily(false)),
    () => Effect.sync(() => setDefaultAutoSelectFamily(family))
  )
  // If the operating system connects to 127.0.0.1 for 0.0.0.0, no server listens there.
  const { heard, urlAt } = yield* receiver([], { host: "127.0.0.2" })
  assert.strictEqual((yield* ask("loopback", urlAt("several.example"), [["0.0.0.0", "127.0.0.2"]])).outcome, 200)
  assert.strictEqual(yield* heard, 1)
})

it.live("over TLS the same rule holds", function* () {
  const { outcome } = yield* ask("public", "https://rebound.example:1/", [["127.0.0.1"]])
  assert.strictEqual(outcome, "OutOfReach")
})

it.live.each([
  "ftp://example.com/",
  "file:///etc/passwd",
  "javascript:0",
  "//example.com/",
  "hook",
  "",
  "http://%zz@example.com/",
  "https://user:pw@example.com/",
  "https://user@example.com/",
  "https://:pw@example.com/"
])("%j is no URL that is asked", function* (url) {
  assert.deepStrictEqual(yield* ask("any", url, [["127.0.0.1"]]), { outcome: "NotHttp", resolved: 0 })
})
