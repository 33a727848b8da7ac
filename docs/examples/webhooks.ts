/**
 * A route for notifications: what the service signed is handled, everything else is refused and changes nothing. The
 * service repeats a notification until it is answered with 200, so what is done here should bear being done twice.
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
        // Whoever sent it does not know the Auth Secret.
        SignatureMismatch: () => answer(403),
        MalformedNotification: () => answer(400),
        SchemaError: () => answer(400),
        MultipartError: () => answer(400)
      })
    )
  )
