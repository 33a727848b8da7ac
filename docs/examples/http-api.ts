/**
 * The application of `http-server.ts` as an `HttpApi`: its OpenAPI document contains the routes of
 * `@assembly-effect/http`. Handled notifications are stored in a database, so that they survive a restart.
 *
 * HttpRouter.serve(routes(store)).pipe(
 *   Layer.provide(NodeHttpServer.layer(createServer, { port: 8080 })),
 *   Layer.provide(SqliteClient.layer({ path: "application.db" })),
 *   Layer.provide(AssemblyNode.layerConfig()),
 *   Layer.launch,
 *   NodeRuntime.runMain
 * )
 */
import { Webhook } from "@assembly-effect/auth"
import { HandledNotifications, PassThrough, Refusal, Signatures, Webhooks } from "@assembly-effect/http"
import type { Assembly } from "@assembly-effect/schema"
import { Effect, Layer, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import { HttpApi, HttpApiBuilder } from "effect/http-api"

const steps = { ":original": { robot: "/upload/handle" } }

/** The user of a request. An application looks up its session here. */
const userOf = ({ cookies }: HttpServerRequest.HttpServerRequest) =>
  cookies["user"] === undefined
    ? Effect.fail(new Refusal.Unauthenticated({ description: "Sign in before you upload." }))
    : Effect.succeed(cookies["user"])

// #region api
const Album = Schema.Struct({ album: Schema.String.check(Schema.isMaxLength(100)) })

/** The application's own groups are in the same HttpApi. `id` sets another id of a group, if an id is taken. */
export const Api = HttpApi.make("application").add(
  Webhooks.group({ path: "/notifications" }),
  Signatures.group({ path: "/sign", body: Album }),
  PassThrough.group({ path: "/uploads", fields: Album })
)

const webhooks = <E, R>(store: (status: Assembly.Status) => Effect.Effect<void, E, R>) =>
  HttpApiBuilder.group(Api, "webhooks", (handlers) =>
    Effect.map(Webhooks.make({ handle: ({ status }) => store(status) }), (receive) =>
      handlers.handleRaw("receive", ({ request }) => receive(request))
    )
  )
// #endregion

const signatures = HttpApiBuilder.group(Api, "signatures", (handlers) =>
  Effect.map(
    Signatures.make({
      body: Album,
      policy: ({ album }, request) =>
        Effect.map(userOf(request), (user) => ({ params: { steps, fields: { user, album } }, maxSize: 100_000_000 }))
    }),
    (sign) => handlers.handleRaw("sign", ({ request }) => sign(request))
  )
)

const uploads = HttpApiBuilder.group(Api, "uploads", (handlers) =>
  Effect.map(
    PassThrough.make({
      fields: Album,
      policy: ({ fields }, request) =>
        Effect.map(userOf(request), (user) => ({
          params: { steps, fields: { user, album: fields.album } },
          maxBytes: 100_000_000
        }))
    }),
    ({ upload, watch }) =>
      handlers.handleRaw("upload", ({ request }) => upload(request)).handleRaw("watch", ({ request }) => watch(request))
  )
)

/** `layerSql` remembers the handled notifications in the database of the application, and creates its table. */
export const routes = <E, R>(store: (status: Assembly.Status) => Effect.Effect<void, E, R>) =>
  HttpApiBuilder.layer(Api, { openapiPath: "/openapi.json" }).pipe(
    Layer.provide([webhooks(store), signatures, uploads]),
    Layer.provide([Webhook.layer(), HandledNotifications.layerSql()])
  )
