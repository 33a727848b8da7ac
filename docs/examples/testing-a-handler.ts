/** An endpoint of your own is tested with the rules of the operation whose params it takes. */
import { Dam } from "@assembly-effect/api"
import * as Testing from "@assembly-effect/api/testing"
import { DamAsset } from "@assembly-effect/schema"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiError, HttpApiGroup } from "effect/http-api"

const move = HttpApiEndpoint.patch("move", "/asset", {
  payload: DamAsset.MoveRequest,
  success: DamAsset.MoveRequest,
  error: HttpApiError.Forbidden
})
const Api = HttpApi.make("files").add(HttpApiGroup.make("assets").add(move))
/** The endpoint under test answers with the request that it has understood. The session of the caller has scopes. */
const assets = HttpApiBuilder.group(Api, "assets", (handlers) =>
  handlers.handle("move", ({ payload, request }) =>
    (request.headers["x-scopes"] ?? "").split(" ").some((scope) => scope === "write" || scope === "dam:write")
      ? Effect.succeed(payload)
      : Effect.fail(new HttpApiError.Forbidden())
  )
)
const live = HttpApiBuilder.layer(Api).pipe(Layer.provide([assets, HttpServer.layerServices]))
const { handler } = HttpRouter.toWebHandler(live, { disableLogger: true })

const send = (input: unknown, scopes: ReadonlyArray<string> = ["write"]) =>
  Effect.promise(async () => {
    const headers = { "content-type": "application/json", "x-scopes": scopes.join(" ") }
    const init = { method: "PATCH", headers, body: JSON.stringify(input) }
    const response = await handler(new Request("http://localhost/asset", init))
    return { status: response.status, body: await response.text() }
  })

describe("the endpoint", () => {
  const { params, scopes } = Testing.of(Dam.Move)
  const decode = Schema.decodeUnknownExit(Dam.Move.params)

  const understands = (request: unknown) =>
    Effect.gen(function* () {
      const { body, status } = yield* send(request)
      assert.strictEqual(status, 200, body)
      assert.deepStrictEqual(decode(JSON.parse(body)), decode(request), body)
    })

  it.effect.prop("understands every valid request", [params.valid.wire], ([request]) => understands(request))

  describe.each(params.rules.wire)("$name", ({ edge, invalid }) => {
    it.effect.prop("is checked", [invalid], ([{ input }]) =>
      Effect.map(send(input), ({ body, status }) => assert.strictEqual(status, 400, body))
    )
    if (edge) it.effect.prop("accepts its limit", [edge], ([request]) => understands(request))
  })

  it.effect.prop("needs the scope", [params.valid.wire, scopes.lacking], ([request, lacking]) =>
    Effect.map(send(request, lacking), ({ status }) => assert.strictEqual(status, 403))
  )
})
