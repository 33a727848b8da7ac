/**
 * The Auth Key and its secret.
 */
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { InvalidCredentials } from "./AuthError.ts"

/**
 * The Auth Key and the Auth Secret. Do not use this service in a browser, because a browser must not have the secret.
 *
 * @since 0.1.0
 * @category services
 */
export class Credentials extends Context.Service<
  Credentials,
  { readonly key: string; readonly secret: Redacted.Redacted }
>()("@assembly-effect/auth/Credentials") {}

const check = Rules.checker(Schema.Struct({ key: Rules.notBlank, secret: Rules.notBlank }))

/**
 * Credentials from values. Fails with `InvalidCredentials` if the key or the secret is empty or blank, because the
 * service would refuse every request, and because anybody can compute an HMAC with an empty secret.
 *
 * @example Credentials.layer({ key: "my-key", secret: Redacted.make("my-secret") })
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: {
  readonly key: string
  readonly secret: Redacted.Redacted
}): Layer.Layer<Credentials, InvalidCredentials> =>
  Layer.effect(
    Credentials,
    Effect.suspend(() => {
      const { key, secret }: Partial<typeof options> = options ?? {}
      const isRedacted = Redacted.isRedacted(secret)
      const issues = check({ key, secret: isRedacted ? Redacted.value(secret) : undefined }).map((issue) =>
        isRedacted || issue.path[0] !== "secret" ? issue : { path: issue.path, message: "Expected a Redacted string" }
      )
      return issues.length === 0 ? Effect.succeed(options) : Effect.fail(new InvalidCredentials({ issues }))
    })
  )
