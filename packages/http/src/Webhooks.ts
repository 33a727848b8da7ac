/**
 * A route that receives the notifications of the service.
 */
import * as Webhook from "@assembly-effect/auth/Webhook"
import * as Digests from "@assembly-effect/auth/unstable/Digests"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as OpenApi from "effect/http-api/OpenApi"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as HandledNotifications from "./HandledNotifications.ts"
import * as Body from "./internal/body.ts"
import * as Form from "./internal/form.ts"
import * as Respond from "./internal/respond.ts"
import * as Refusal from "./Refusal.ts"

/**
 * A verified notification.
 *
 * - `status`: the Status of the Assembly.
 * - `key`: the SHA-256 of the text of the notification, in hexadecimal digits. Every repetition of a notification has
 *   the same key.
 *
 * @since 0.1.0
 * @category models
 */
export interface Notification {
  readonly status: Assembly.Status
  readonly key: string
}

const Settings = Schema.Struct({
  path: Schema.optional(Rules.path),
  maxBytes: Schema.optional(Rules.whole(1)),
  maxFields: Schema.optional(Rules.whole(2)),
  maxBufferedBytes: Schema.optional(Rules.whole(1)),
  receiveTimeout: Schema.optional(Rules.duration),
  handleTimeout: Schema.optional(Rules.duration)
})

/**
 * A value that breaks its rule fails with `InvalidRequest`.
 *
 * - `path`: the path of the route, `/assembly-notifications` by default.
 * - `maxBytes`: the maximum size of a notification, 16 MiB by default.
 * - `maxFields`: the maximum number of form fields, 16 by default, at least 2.
 * - `maxBufferedBytes`: the maximum total size of the notifications that are being received, 64 MiB by default. Above
 *   this size, the answer is 503.
 * - `receiveTimeout`: how long a notification may take to arrive, 30 seconds by default.
 * - `handleTimeout`: how long `handle` may run, 5 minutes by default. After this time `handle` is interrupted, and the
 *   answer is 500.
 * - `handle`: handles a notification. If `handle` fails, the answer is 500, and the service repeats the notification.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options<E, R> extends Schema.Codec.Encoded<typeof Settings> {
  readonly handle: (notification: Notification) => Effect.Effect<void, E, R>
}

/**
 * The answer to a notification. `Handled`: the handler succeeded. `Repeated`: an earlier run of the handler succeeded.
 *
 * @since 0.1.0
 * @category schemas
 */
export const Received = Schema.Struct({ outcome: Schema.Literals(["Handled", "Repeated"]) })
/**
 * @since 0.1.0
 * @category models
 */
export type Received = typeof Received.Type

const defaultPath = "/assembly-notifications"

/**
 * How long the claim of a notification is valid without a renewal. If a process ends while it handles a notification,
 * another process may handle the notification after this time.
 */
const lease = Duration.seconds(20)

/** The time between two renewals of the claim of a notification. */
const renewal = Duration.seconds(5)

/** The time limit of each access to the store of handled notifications. */
const storeTimeout = Duration.seconds(10)

const decode = Rules.decoder("Webhooks", Settings)

const fieldOf = (form: Partial<Record<"transloadit" | "signature", string>>) => (name: "transloadit" | "signature") => {
  const value = form[name]
  return value === undefined
    ? Effect.fail(new Refusal.BodyMalformed({ description: `The form has no field ${name}.` }))
    : Effect.succeed(value)
}

type Outcome = Deferred.Deferred<Received, Refusal.ApplicationFailed | Refusal.Busy>

const failed = new Refusal.ApplicationFailed({ description: "The notification could not be handled." })
const stopping = new Refusal.Busy({ description: "The server is stopping." })

/**
 * The outcome of a run of the handler. A run that ended without a result and without a typed error was interrupted,
 * because the server stops.
 */
const toOutcome = <A, E>(exit: Exit.Exit<A, E>): Exit.Exit<A, E | Refusal.Busy> =>
  Exit.isSuccess(exit) ? exit : Exit.fail(Option.getOrElse(Exit.findErrorOption(exit), () => stopping))

/**
 * Makes the function that answers a notification, for a route of your own or for the handler of {@link group}. When the
 * scope of `make` closes, a running `handle` is interrupted.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.fnUntraced(function* <E, R>(options: Omit<Options<E, R>, "path">) {
  const settings = yield* decode(options)
  const webhook = yield* Webhook.Webhook
  const handled = yield* HandledNotifications.HandledNotifications
  const scope = yield* Effect.scope
  const handleTimeout = settings.handleTimeout ?? "5 minutes"
  const limits: Form.Limits = {
    bytes: settings.maxBytes ?? 16 * 1024 * 1024,
    fields: settings.maxFields ?? 16,
    time: settings.receiveTimeout ?? "30 seconds"
  }
  const buffered = Body.budget(settings.maxBufferedBytes ?? 64 * 1024 * 1024)

  /** The notifications that are being handled, by their keys. */
  const running = new Map<string, Outcome>()

  const handle = (notification: Notification) =>
    Effect.scoped(options.handle(notification)).pipe(
      Effect.timeout(handleTimeout),
      Effect.tapCause((cause) => Effect.logError("The handler of a notification failed", cause)),
      Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.fail(failed)))
    )

  /** Limits the time of an access to the store, so that a store that hangs does not keep the server from stopping. */
  const limited = <A>(access: Effect.Effect<A, HandledNotifications.StoreFailed>) =>
    Effect.timeoutOrElse(access, {
      duration: storeTimeout,
      orElse: () => Effect.fail(new HandledNotifications.StoreFailed({ description: "the store does not answer" }))
    })

  /** Renews a claim again and again. If the renewals fail, another process may handle the notification too. */
  const renewing = (renew: Effect.Effect<void, HandledNotifications.StoreFailed>) =>
    limited(renew).pipe(
      Effect.catch(({ message }) => Effect.logWarning(message)),
      Effect.delay(renewal),
      Effect.forever
    )

  /**
   * Claims a notification and handles it, unless it was handled before. After the claim, either `done` or `release`
   * runs, even after an interruption.
   */
  const handleOnce = (notification: Notification) =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* () {
        const claim = yield* limited(handled.claim(notification.key, lease)).pipe(
          Effect.tapError((error) => Effect.logError(error.message)),
          Effect.mapError(() => new Refusal.Busy({ description: "The store of handled notifications failed." }))
        )
        if (claim._tag === "Done") return { outcome: "Repeated" } as const
        if (claim._tag === "Busy") return yield* new Refusal.Busy({ description: "The notification is being handled." })
        yield* Effect.onExit(restore(Effect.raceFirst(handle(notification), renewing(claim.renew))), (exit) =>
          // If the store fails after the handler ended, the handler may run again for a repetition of the notification.
          Effect.catchTag(limited(Exit.isSuccess(exit) ? claim.done : claim.release), "StoreFailed", ({ message }) =>
            Effect.logWarning(message)
          )
        )
        return { outcome: "Handled" } as const
      })
    )

  /**
   * Handles a notification in the scope of the route, because the service may close the connection before a slow
   * handler ends. A repetition that this process receives while the handler runs waits for the result of this run.
   */
  const handleShared = (notification: Notification) =>
    Effect.suspend(() => {
      const known = running.get(notification.key)
      if (known !== undefined) return Deferred.await(known)
      const result: Outcome = Deferred.makeUnsafe()
      running.set(notification.key, result)
      return handleOnce(notification).pipe(
        Effect.interruptible,
        Effect.catchDefect((defect) =>
          Effect.andThen(Effect.logError("A notification failed", defect), Effect.fail(failed))
        ),
        Effect.onExit((exit) =>
          Effect.sync(() => {
            running.delete(notification.key)
            Deferred.doneUnsafe(result, toOutcome(exit))
          })
        ),
        Effect.forkIn(scope),
        // An interruption between the entry in `running` and the start of the handler would leave the entry in
        // `running` forever.
        Effect.uninterruptible,
        Effect.andThen(Deferred.await(result))
      )
    })

  /** Reads and verifies a notification. */
  const read = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const form = yield* Form.read(request, ["transloadit", "signature"], limits, buffered)
    const field = fieldOf(form)
    const transloadit = yield* field("transloadit")
    const status = yield* webhook.verify({ transloadit, signature: yield* field("signature") }).pipe(
      Effect.catchTags({
        SignatureMismatch: ({ message }) => Effect.fail(new Refusal.SignatureRefused({ description: message })),
        MalformedNotification: ({ message }) => Effect.fail(new Refusal.BodyMalformed({ description: message }))
      })
    )
    return { status, key: yield* Digests.sha256(transloadit) } satisfies Notification
  })

  return (request: HttpServerRequest.HttpServerRequest) => Respond.to(Effect.flatMap(read(request), handleShared))
})

/**
 * Adds the route to the `HttpRouter`.
 *
 * **Details**
 *
 * - The form is multipart or urlencoded. The route limits the size of the form, the number of its fields, and the time
 *   in which the form arrives.
 * - The answer is 200 only after `handle` has succeeded. A wrong signature is answered with 403, and a form that cannot
 *   be read is answered with 400, 408, 413 or 415. A notification that could not be handled is answered with 500 or
 *   503. The service repeats a notification whose answer is not 200.
 * - A notification that was handled is answered with 200 and not handled again. A repetition that the same process
 *   receives while `handle` runs waits for the result of this run. `HandledNotifications` remembers the handled
 *   notifications.
 *
 * **Gotchas**
 *
 * A notification may be handled more than once. The changes that `handle` makes and the record in
 * `HandledNotifications` are two separate writes. If the process ends between these writes, nothing shows that the
 * first write happened, so a repetition is handled again. If a handler must not run twice, write `key` into a table
 * with a unique index, in the same transaction as the changes that the handler makes.
 *
 * @example
 * Webhooks.layer({ handle: ({ status }) => Effect.log(`${status.ok}`) }).pipe(
 *   Layer.provide([HandledNotifications.layerMemory(), Webhook.layer()])
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = <E, R>(options: Options<E, R>) =>
  HttpRouter.use((router) =>
    Effect.flatMap(make(options), (receive) => router.add("POST", options.path ?? defaultPath, receive))
  )

/**
 * The route as a group of an `HttpApi`, so that the OpenAPI document of the application contains it. The handler of the
 * endpoint `receive` is the function that {@link make} returns.
 *
 * - `id`: the id of the group, `webhooks` by default.
 * - `path`: the path of the route, `/assembly-notifications` by default.
 *
 * @example
 * const Api = HttpApi.make("application").add(Webhooks.group())
 *
 * HttpApiBuilder.group(Api, "webhooks", (handlers) =>
 *   Effect.map(Webhooks.make({ handle }), (receive) =>
 *     handlers.handleRaw("receive", ({ request }) => receive(request))
 *   )
 * )
 *
 * @since 0.1.0
 * @category constructors
 */
export const group = <
  const Path extends HttpRouter.PathInput = typeof defaultPath,
  const Id extends string = "webhooks"
>(options?: {
  readonly id?: Id | undefined
  readonly path?: Path | undefined
}) =>
  HttpApiGroup.make((options?.id ?? "webhooks") as Id).add(
    HttpApiEndpoint.post("receive", (options?.path ?? defaultPath) as Path, {
      payload: [
        Webhook.Notification.pipe(HttpApiSchema.asMultipart()),
        Webhook.Notification.pipe(HttpApiSchema.asFormUrlEncoded())
      ],
      success: Received,
      error: [...Respond.errors, Refusal.SignatureRefused]
    }).annotate(OpenApi.Summary, "Receives a notification of the service")
  )
