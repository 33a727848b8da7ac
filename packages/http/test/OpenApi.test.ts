/** The routes as groups of the application's own HttpApi. */
import { HandledNotifications, PassThrough, Refusal, Signatures, Webhooks } from "@assembly-effect/http"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, Layer, Schema, Stream } from "effect"
import { HttpApi, HttpApiBuilder, HttpApiClient, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { FetchHttpClient } from "effect/http"
import { notification, webhook } from "./receiving.ts"
import { formOf, send, serve, signatureOf, unreachable } from "./support.ts"

const Asked = Schema.Struct({ album: Schema.String })

const Api = HttpApi.make("application").add(
  Webhooks.group({ path: "/hooks/assembly" }),
  Signatures.group({ path: "/uploads/sign", body: Asked }),
  PassThrough.group({ path: "/files" })
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
          ? Effect.fail(new Refusal.Forbidden({ description: "The album is closed." }))
          : Effect.succeed({ params: { templateId: album }, maxSize: 1000 })
    }),
    (answer) => handlers.handleRaw("sign", ({ request }) => answer(request))
  )
)

const policy = () => Effect.fail(new Refusal.Forbidden({ description: "The album is full." }))

const uploads = HttpApiBuilder.group(Api, "uploads", (handlers) =>
  Effect.map(PassThrough.make({ policy }), ({ upload, watch }) =>
    handlers.handleRaw("upload", ({ request }) => upload(request)).handleRaw("watch", ({ request }) => watch(request))
  )
)

const routes = HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
  Layer.provide([webhooks, signatures, uploads]),
  Layer.provide([HandledNotifications.layerMemory(), webhook, unreachable, NodeHttpServer.layerHttpServices])
)

describe("the groups of an HttpApi", () => {
  test("are in the OpenAPI document of the application", () => {
    const { paths } = OpenApi.fromApi(Api)
    const keys = (value: object | undefined) =>
      Object.keys(value ?? {})
        .toSorted()
        .join(" ")
    const receive = paths["/hooks/assembly"]?.post
    const { get: watch, post: upload } = paths["/files/{uploadId}"] ?? {}
    const sign = paths["/uploads/sign"]?.post
    assert.strictEqual(keys(receive?.requestBody?.content), "application/x-www-form-urlencoded multipart/form-data")
    assert.strictEqual(keys(upload?.requestBody?.content), "multipart/form-data")
    assert.strictEqual(keys(sign?.requestBody?.content), "application/json")
    assert.strictEqual(keys(watch?.responses["200"]?.content), "text/event-stream")
    assert.strictEqual(keys(receive?.responses), "200 400 403 408 413 415 500 503")
    assert.strictEqual(keys(upload?.responses), "200 400 401 403 408 409 413 415 429 500 502 503")
    assert.strictEqual(keys(watch?.responses), "200 204 400 403 503")
    assert.strictEqual(keys(sign?.responses), "200 400 401 403 408 413 415 429 500 503")
  })

  test("describe the fields of the form before its file", () => {
    const bodyOf = ({ paths }: OpenApi.OpenAPISpec) =>
      paths["/assembly-uploads/{uploadId}"]?.post?.requestBody?.content["multipart/form-data"]?.schema
    const file = { type: "string", format: "binary" }
    assert.deepStrictEqual(bodyOf(OpenApi.fromApi(HttpApi.make("any").add(PassThrough.group()))), {
      type: "object",
      properties: { file },
      required: ["file"],
      allOf: [{ type: "object", additionalProperties: {} }]
    } as never)
    const fields = Schema.Struct({ album: Schema.String, title: Schema.optionalKey(Schema.String) })
    assert.deepStrictEqual(bodyOf(OpenApi.fromApi(HttpApi.make("album").add(PassThrough.group({ fields })))), {
      type: "object",
      properties: { album: { type: "string" }, title: { type: "string" }, file },
      required: ["album", "file"],
      additionalProperties: false
    } as never)
  })

  test("have a summary for each endpoint, and describe a Status once", () => {
    const document = OpenApi.fromApi(
      HttpApi.make("application").add(Webhooks.group(), Signatures.group(), PassThrough.group())
    )
    const operations = Object.values(document.paths).flatMap(({ get, post }) => [get, post])
    for (const operation of operations) {
      if (operation !== undefined) assert.isNotEmpty(operation.summary, operation.operationId)
    }
    const uploaded = document.paths["/assembly-uploads/{uploadId}"]?.post?.responses["200"]
    assert.deepInclude(uploaded?.content?.["application/json"]?.schema, {
      properties: {
        uploadId: { type: "string" },
        bytes: { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
        status: { $ref: "#/components/schemas/PublicStatus" }
      }
    })
    assert.isBelow(JSON.stringify(document).length, 60_000)
  })

  test("take another id, where the application has a group with the same id", () => {
    const own = HttpApiGroup.make("uploads").add(HttpApiEndpoint.get("list", "/uploads"))
    const Both = HttpApi.make("both").add(
      own,
      PassThrough.group({ id: "assembly-uploads" }),
      Signatures.group({ id: "assembly-signatures" }),
      Webhooks.group({ id: "assembly-webhooks" })
    )
    assert.hasAllKeys(Both.groups, ["uploads", "assembly-uploads", "assembly-signatures", "assembly-webhooks"])
  })

  it.effect("answer as their schemas say, to a client that is made of them", function* () {
    const { origin } = yield* serve(routes)
    const client = yield* Effect.provide(HttpApiClient.make(Api, { baseUrl: origin }), FetchHttpClient.layer)

    const signed = yield* client.signatures.sign({ payload: { album: "open" } })
    assert.strictEqual(signed.signature, signatureOf(signed.params))
    const refused = yield* Effect.flip(client.signatures.sign({ payload: { album: "closed" } }))
    assert.deepStrictEqual(refused, new Refusal.Forbidden({ description: "The album is closed." }))

    const { signature = "", transloadit = "" } = Object.fromEntries(notification())
    const payload = { transloadit, signature }
    assert.deepStrictEqual(yield* client.webhooks.receive({ payload }), { outcome: "Handled" })
    const forged = yield* Effect.flip(client.webhooks.receive({ payload: { ...payload, signature: "sha384:00" } }))
    assert.strictEqual(forged._tag, "SignatureRefused")

    const form = formOf("x")
    const params = { uploadId: crypto.randomUUID() }
    const full = yield* Effect.flip(client.uploads.upload({ params, payload: form }))
    assert.deepStrictEqual(full, new Refusal.Forbidden({ description: "The album is full." }))
    const invalid = yield* Effect.flip(client.uploads.upload({ params: { uploadId: "short" }, payload: form }))
    assert.include(String(invalid), "16 to 64 letters")
    const events = yield* client.uploads.watch({ params })
    assert.isTrue(Stream.isStream(events))
    if (Stream.isStream(events)) {
      assert.deepStrictEqual(yield* Stream.runCollect(events), [{ _tag: "Failed", description: "The album is full." }])
    }

    const document = yield* send(`${origin}/openapi.json`, { method: "GET" })
    assert.hasAllKeys(Object(document.body).paths, ["/hooks/assembly", "/uploads/sign", "/files/{uploadId}"])
  })
})
