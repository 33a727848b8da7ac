/**
 * An application with the HTTP routes of `@assembly-effect/http`. Its pages upload to the service themselves, with
 * params that the application signs, or send files to the application, which streams them to the service. The service
 * notifies the application when an Assembly has ended.
 *
 * HttpRouter.serve(routes({ publicUrl: "https://example.com", store })).pipe(
 *   Layer.provide(NodeHttpServer.layer(createServer, { port: 8080 })),
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

/** The Steps for the files of users. Pages can neither see nor change them. */
const steps = { ":original": { robot: "/upload/handle" } }

/** The user of a request. An application looks up its session here. */
const userOf = ({ cookies }: HttpServerRequest.HttpServerRequest) =>
  cookies["user"] === undefined
    ? Effect.fail(new Refusal.Unauthenticated({ description: "Sign in before you upload." }))
    : Effect.succeed(cookies["user"])

const Album = Schema.Struct({ album: Schema.String.check(Schema.isMaxLength(100)) })

/** `publicUrl`: the URL at which the service reaches this application. */
const signatures = (publicUrl: string) =>
  Signatures.layer({
    path: "/sign",
    body: Album,
    policy: ({ album }, request) =>
      Effect.map(userOf(request), (user) => ({
        params: { steps, fields: { user, album }, notifyUrl: `${publicUrl}/notifications` },
        maxSize: 100_000_000
      }))
  })

/**
 * For pages and programs that cannot send requests to the service. The application forwards the bytes and stores none.
 */
const uploads = (publicUrl: string) =>
  PassThrough.layer({
    path: "/uploads",
    fields: Album,
    policy: ({ fields }, request) =>
      Effect.map(userOf(request), (user) => ({
        params: { steps, fields: { user, album: fields.album }, notifyUrl: `${publicUrl}/notifications` },
        maxBytes: 100_000_000
      }))
  })

/** An application with several processes uses `HandledNotifications.layerSql` instead. */
const notifications = <E, R>(store: (status: Assembly.Status) => Effect.Effect<void, E, R>) =>
  Webhooks.layer({ path: "/notifications", handle: ({ status }) => store(status) }).pipe(
    Layer.provide([Webhook.layer(), HandledNotifications.layerMemory()])
  )

/** The routes. `AssemblyNode.layerConfig()` provides what they need: the Credentials, the client and HTTP. */
export const routes = <E, R>(options: {
  readonly publicUrl: string
  readonly store: (status: Assembly.Status) => Effect.Effect<void, E, R>
}) => Layer.mergeAll(signatures(options.publicUrl), uploads(options.publicUrl), notifications(options.store))
