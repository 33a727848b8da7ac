/** An application with the route of Webhooks, and the notifications that it gets. */
import { Credentials, Webhook } from "@assembly-effect/auth"
import { HandledNotifications, Webhooks } from "@assembly-effect/http"
import { Effect, Layer } from "effect"
import { credentials, send, serve, signatureOf } from "./support.ts"

export const path = "/assembly-notifications"
export const text = JSON.stringify({ ok: "ASSEMBLY_COMPLETED", assembly_id: "a".repeat(32) })
export const urlEncoded = "application/x-www-form-urlencoded"

export const webhook = Webhook.layer().pipe(Layer.provide(Credentials.layer(credentials)))

/** A notification with this many other fields. */
export const notification = (signed = text, others = 0): URLSearchParams => {
  const form = new URLSearchParams({ transloadit: signed, signature: signatureOf(signed) })
  for (let field = 0; field < others; field++) form.append(`other${field}`, "x")
  return form
}

/** An application that notes what it handles. `handle` runs after that. */
export const application = Effect.fnUntraced(function* <R = never>(
  options: Partial<Webhooks.Options<unknown, R>> = {},
  store = HandledNotifications.layerMemory()
) {
  const handled: Array<Webhooks.Notification> = []
  const handle: Webhooks.Options<unknown, R>["handle"] = (one) =>
    Effect.suspend(() => {
      handled.push(one)
      return options.handle?.(one) ?? Effect.void
    })
  const routes = Webhooks.layer<unknown, R>({ ...options, handle })
  const served = yield* serve(routes.pipe(Layer.provide([store, webhook])))
  const post = (body: BodyInit = notification(), headers: Record<string, string> = {}) =>
    send(`${served.origin}${options.path ?? path}`, { body, headers })
  return { ...served, handled, post }
})

/** A store with this claim of each notification. */
export const storeOf = (claim: HandledNotifications.HandledNotifications["Service"]["claim"]) =>
  Layer.succeed(HandledNotifications.HandledNotifications, { claim })

export const storeFailed = (description: string) => Effect.fail(new HandledNotifications.StoreFailed({ description }))
