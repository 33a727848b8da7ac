/** What every refusal is on the wire, whichever route answers with it. */
import { Refusal } from "@assembly-effect/http"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { HttpRouter, HttpServerRespondable } from "effect/http"
import { headOf, open, send, serve, statusIn, until } from "./support.ts"

const problem = "a problem"
const description = { description: problem }

const refusals = [
  [400, new Refusal.BodyMalformed(description)],
  [401, new Refusal.Unauthenticated(description)],
  [403, new Refusal.Forbidden(description)],
  [403, new Refusal.OriginRefused(description)],
  [403, new Refusal.SignatureRefused(description)],
  [408, new Refusal.BodyTooSlow(description)],
  [409, new Refusal.UploadExists(description)],
  [413, new Refusal.BodyTooLarge(description)],
  [415, new Refusal.UnsupportedBody(description)],
  [429, new Refusal.TooManyRequests(description)],
  [500, new Refusal.ApplicationFailed(description)],
  [502, new Refusal.UploadFailed(description)],
  [503, new Refusal.Busy(description)]
] as const

describe.each(refusals.map(([status, error]) => [error._tag, error, status] as const))("%s", (tag, error, status) => {
  it.effect("is JSON that no cache may keep, and ends the connection", function* () {
    const answer = HttpServerRespondable.toResponse(error)
    const { origin, port } = yield* serve(HttpRouter.use((router) => router.add("POST", "/", answer)))
    const { body, headers, status: found } = yield* send(origin)
    assert.deepStrictEqual([found, body], [status, { _tag: tag, description: problem }])
    assert.strictEqual(headers.get("cache-control"), "no-store")

    // The body of a notification was read before its signature is checked.
    if (tag === "SignatureRefused") return
    const raw = yield* open(port)
    yield* raw.write(headOf("/", { "content-length": "1000" }) + "the first bytes")
    yield* until(() => raw.received().endsWith("}"))
    assert.strictEqual(statusIn(raw.received()), status)
    assert.match(raw.received(), /\r\nconnection: close\r\n/i)
    yield* until(raw.isClosed)
  })

  test("is in an OpenAPI document with its status", () => {
    // The schema of an error is its class.
    const schema = error.constructor as typeof Refusal.Busy
    const group = HttpApiGroup.make("group").add(HttpApiEndpoint.post("refuse", "/", { error: schema }))
    const { paths } = OpenApi.fromApi(HttpApi.make("api").add(group))
    assert.property(paths["/"]?.post?.responses, String(status))
  })
})
