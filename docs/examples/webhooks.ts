/**
 * A route for notifications. It handles notifications with a valid signature, and refuses all others without an effect.
 * The service repeats a notification until the response is 200, so the handler should be idempotent.
 *
 * `Webhook.layer()` provides what the route needs. It takes the Credentials, which `AssemblyNode.layerConfig()` provides.
 */
import { Webhook } from "@assembly-effect/auth"
import type { Assembly } from "@assembly-effect/schema"
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"

const answer = (status: number) => Effect.succeed(HttpServerResponse.empty({ status }))

export const notifications = <R>(handle: (status: Assembly.Status) => Effect.Effect<void, never, R>) =>
  HttpRouter.add(
    "POST",
    "/assembly-notifications",
    Effect.gen(function* () {
      const notification = yield* HttpServerRequest.schemaBodyForm(Webhook.Notification)
      yield* handle(yield* Webhook.verify(notification))
      return HttpServerResponse.empty({ status: 200 })
    }).pipe(
      Effect.catchTags({
        // The sender does not know the Auth Secret.
        SignatureMismatch: () => answer(403),
        MalformedNotification: () => answer(400),
        SchemaError: () => answer(400),
        MultipartError: () => answer(400)
      })
    )
  )
