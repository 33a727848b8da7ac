/** The routes as groups of the application's own HttpApi. */
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Webhook from "@assembly-effect/auth/Webhook"
import * as HandledNotifications from "@assembly-effect/http/HandledNotifications"
import * as Refusal from "@assembly-effect/http/Refusal"
import * as Signatures from "@assembly-effect/http/Signatures"
import * as Webhooks from "@assembly-effect/http/Webhooks"
import { assert, describe, it } from "@effect/vitest"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Effect from "effect/Effect"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiClient from "effect/http-api/HttpApiClient"
import * as OpenApi from "effect/http-api/OpenApi"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { credentials, send, serve, signatureOf } from "./support.ts"

const Asked = Schema.Struct({ album: Schema.String })

const Api = HttpApi.make("application").add(
  Webhooks.group({ path: "/hooks/assembly" }),
  Signatures.group({ path: "/uploads/sign", body: Asked })
)

const webhooks = HttpApiBuilder.group(Api, "webhooks", (handlers) =>
  Effect.map(Webhooks.make({ handle: () => Effect.void }), (receive) =>
    handlers.handleRaw("receive", ({ request }) => receive(request))
  )
)

const signatures = HttpApiBuilder.group(Api, "signatures", (handlers) =>
  Effect.map(
    Signatures.make({
      body: Asked,
      policy: ({ album }) =>
        album === "closed"
          ? Effect.fail(new Refusal.Forbidden({ problem: "The album is closed." }))
          : Effect.succeed({ params: { templateId: album }, maxSize: 1000 })
    }),
    (answer) => handlers.handleRaw("sign", ({ request }) => answer(request))
  )
)

const routes = HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
  Layer.provide([webhooks, signatures]),
  Layer.provide([
    HandledNotifications.layerMemory(),
    Webhook.layer().pipe(Layer.provide(Credentials.layer(credentials))),
    Credentials.layer(credentials),
    NodeHttpServer.layerHttpServices
  ])
)

describe("the groups of an HttpApi", () => {
  it("are in the OpenAPI document of the application", () => {
    const { paths } = OpenApi.fromApi(Api)
    const receive = paths["/hooks/assembly"]?.post
    assert.deepStrictEqual(Object.keys(receive?.requestBody?.content ?? {}).toSorted(), [
      "application/x-www-form-urlencoded",
      "multipart/form-data"
    ])
    assert.deepStrictEqual(Object.keys(receive?.responses ?? {}).toSorted(), [
      "200",
      "400",
      "403",
      "408",
      "413",
      "415",
      "500",
      "503"
    ])
    const sign = paths["/uploads/sign"]?.post
    assert.deepStrictEqual(Object.keys(sign?.requestBody?.content ?? {}), ["application/json"])
    assert.deepStrictEqual(Object.keys(sign?.responses ?? {}).toSorted(), [
      "200",
      "400",
      "401",
      "403",
      "408",
      "413",
      "415",
      "429",
      "500",
      "503"
    ])
  })

  it("have paths of their own, and no body where no policy asks for one", () => {
    const { paths } = OpenApi.fromApi(HttpApi.make("application").add(Webhooks.group(), Signatures.group()))
    assert.deepStrictEqual(Object.keys(paths).toSorted(), ["/assembly-notifications", "/assembly-signatures"])
    assert.isUndefined(paths["/assembly-signatures"]?.post?.requestBody)
  })

  it.effect("answer as their schemas say, to a client that is made of them", () =>
    Effect.gen(function* () {
      const { origin } = yield* serve(routes)
      const client = yield* Effect.provide(HttpApiClient.make(Api, { baseUrl: origin }), FetchHttpClient.layer)

      const { params, signature } = yield* client.signatures.sign({ payload: { album: "open" } })
      assert.strictEqual(signature, signatureOf(params))
      const refused = yield* Effect.flip(client.signatures.sign({ payload: { album: "closed" } }))
      assert.deepStrictEqual(refused, new Refusal.Forbidden({ problem: "The album is closed." }))

      const transloadit = JSON.stringify({ ok: "ASSEMBLY_COMPLETED", assembly_id: "a".repeat(32) })
      const payload = { transloadit, signature: signatureOf(transloadit) }
      assert.deepStrictEqual(yield* client.webhooks.receive({ payload }), { outcome: "Handled" })
      const forged = yield* Effect.flip(client.webhooks.receive({ payload: { ...payload, signature: "sha384:00" } }))
      assert.strictEqual(forged._tag, "SignatureRefused")

      const document = yield* send(`${origin}/openapi.json`, { method: "GET" })
      assert.hasAllKeys((document.body as { readonly paths: object }).paths, ["/hooks/assembly", "/uploads/sign"])
    })
  )
})
