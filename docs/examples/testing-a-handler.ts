/** An endpoint of your own is tested with the rules of the operation whose params it takes. */
import { Dam } from "@assembly-effect/api"
import * as Testing from "@assembly-effect/api/testing"
import { DamAsset } from "@assembly-effect/schema"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { HttpApi, HttpApiBuilder, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"

const move = HttpApiEndpoint.patch("move", "/asset", { payload: DamAsset.MoveRequest, success: DamAsset.MoveRequest })
const Api = HttpApi.make("files").add(HttpApiGroup.make("assets").add(move))
/** The endpoint under test. It answers with the request that it has understood. */
const assets = HttpApiBuilder.group(Api, "assets", (handlers) =>
  handlers.handle("move", ({ payload }) => Effect.succeed(payload))
)
const live = HttpApiBuilder.layer(Api).pipe(Layer.provide([assets, HttpServer.layerServices]))
const { handler } = HttpRouter.toWebHandler(live, { disableLogger: true })

const send = (body: unknown) =>
  Effect.promise(() => {
    const headers = { "content-type": "application/json" }
    return handler(new Request("http://localhost/asset", { method: "PATCH", headers, body: JSON.stringify(body) }))
  })

describe("the endpoint", () => {
  const { rules, valid } = Testing.of(Dam.Move).params

  it.effect.prop("understands every valid request", [valid.wire], ([request]) =>
    Effect.gen(function* () {
      const response = yield* send(request)
      const understood = yield* Effect.promise(() => response.json())
      const decode = Schema.decodeUnknownSync(DamAsset.MoveRequest)
      assert.deepStrictEqual(decode(understood), decode(request))
    })
  )

  describe.each(rules.wire)("$name", ({ invalid }) => {
    it.effect.prop("is checked", [invalid], ([{ input }]) =>
      Effect.map(send(input), ({ status }) => assert.strictEqual(status, 400))
    )
  })
})
