/** What every refusal is on the wire, whichever route answers with it. */
import * as Refusal from "@assembly-effect/http/Refusal"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRespondable from "effect/http/HttpServerRespondable"
import { headOf, open, send, serve, statusIn, until } from "./support.ts"

const problem = "a problem"

const refusals = [
  { status: 400, error: new Refusal.BodyMalformed({ description: problem }) },
  { status: 401, error: new Refusal.Unauthenticated({ description: problem }) },
  { status: 403, error: new Refusal.Forbidden({ description: problem }) },
  { status: 403, error: new Refusal.OriginRefused({ description: problem }) },
  { status: 408, error: new Refusal.BodyTooSlow({ description: problem }) },
  { status: 409, error: new Refusal.UploadExists({ description: problem }) },
  { status: 413, error: new Refusal.BodyTooLarge({ description: problem }) },
  { status: 415, error: new Refusal.UnsupportedBody({ description: problem }) },
  { status: 429, error: new Refusal.TooManyRequests({ description: problem }) },
  { status: 500, error: new Refusal.ApplicationFailed({ description: problem }) },
  { status: 502, error: new Refusal.UploadFailed({ description: problem }) },
  { status: 503, error: new Refusal.Busy({ description: problem }) }
] as const

const signature = {
  status: 403,
  error: new Refusal.SignatureRefused({ description: problem })
} as const

describe.each([...refusals, signature].map(({ error, status }) => [error._tag, error, status] as const))(
  "%s",
  (_, error, status) => {
    const route = HttpRouter.use((router) => router.add("POST", "/", HttpServerRespondable.toResponse(error)))

    it.effect("is JSON that no cache may keep", () =>
      Effect.gen(function* () {
        const { origin } = yield* serve(route)
        const answer = yield* send(origin)
        assert.deepStrictEqual([answer.status, answer.body], [status, { _tag: error._tag, description: problem }])
        assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      })
    )
  }
)

it("every refusal is in an OpenAPI document with the status that it has", () => {
  const error = [
    Refusal.BodyMalformed,
    Refusal.Unauthenticated,
    Refusal.Forbidden,
    Refusal.OriginRefused,
    Refusal.SignatureRefused,
    Refusal.BodyTooSlow,
    Refusal.UploadExists,
    Refusal.BodyTooLarge,
    Refusal.UnsupportedBody,
    Refusal.TooManyRequests,
    Refusal.ApplicationFailed,
    Refusal.UploadFailed,
    Refusal.Busy
  ] as const
  const group = HttpApiGroup.make("group").add(HttpApiEndpoint.post("refuse", "/", { error }))
  const { paths } = OpenApi.fromApi(HttpApi.make("api").add(group))
  assert.includeMembers(
    Object.keys(paths["/"]?.post?.responses ?? {}),
    refusals.map(({ status }) => String(status))
  )
})

describe.each(refusals.map(({ error, status }) => [error._tag, error, status] as const))("%s", (_, error, status) => {
  it.effect("ends the connection, so that the rest of the body is not received", () =>
    Effect.gen(function* () {
      const { port } = yield* serve(
        HttpRouter.use((router) => router.add("POST", "/", HttpServerRespondable.toResponse(error)))
      )
      const raw = yield* open(port)
      yield* raw.write(headOf("/", { "content-length": "1000" }) + "the first bytes")
      yield* until(() => raw.received().endsWith("}"))
      assert.strictEqual(statusIn(raw.received()), status)
      assert.match(raw.received(), /\r\nconnection: close\r\n/i)
      yield* until(raw.isClosed)
    })
  )
})
