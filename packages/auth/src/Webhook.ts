/**
 * Verifies and decodes notifications of the service. The format of a notification is beyond the specification, which
 * mentions notifications, but does not define this format ("Events").
 */
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import * as Assembly from "@assembly-effect/schema/Assembly"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Context from "effect/Context"
import * as Mac from "effect/crypto/Mac"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import type * as AuthError from "./AuthError.ts"
import * as Credentials from "./Credentials.ts"
import * as Hmac from "./internal/hmac.ts"
import * as Signer from "./Signer.ts"

/**
 * The two form fields of a notification: the Assembly Status as JSON text, and the signature over exactly that text.
 *
 * @example HttpServerRequest.schemaBodyForm(Webhook.Notification)
 *
 * @since 0.1.0
 * @category schemas
 */
export const Notification = Schema.Struct({ transloadit: Schema.String, signature: Schema.String })
/**
 * @since 0.1.0
 * @category models
 */
export type Notification = typeof Notification.Type

/**
 * The signature is malformed, uses an algorithm that is not accepted, or does not match the text. Perhaps the sender
 * does not know the Auth Secret, so respond with 403 and do nothing else.
 *
 * @since 0.1.0
 * @category errors
 */
export class SignatureMismatch extends Expected.TaggedError<SignatureMismatch>()(
  "SignatureMismatch",
  { description: Schema.String },
  ({ description }) => `The signature of the notification is invalid: ${description}`
) {}

/**
 * A signed notification that is not an Assembly Status. `path` names the field that breaks a rule.
 *
 * @since 0.1.0
 * @category errors
 */
export class MalformedNotification extends Expected.TaggedError<MalformedNotification>()(
  "MalformedNotification",
  { path: Schema.Array(Schema.Union([Schema.String, Schema.Finite])), description: Schema.String },
  ({ description }) => `The notification is not an Assembly Status: ${description}`
) {}

/**
 * Verifies notifications.
 *
 * @since 0.1.0
 * @category services
 */
export class Webhook extends Context.Service<
  Webhook,
  {
    readonly verify: (
      notification: Notification
    ) => Effect.Effect<Assembly.Status, SignatureMismatch | MalformedNotification>
  }
>()("@assembly-effect/auth/Webhook") {}

const mismatch = (problem: string) => Effect.fail(new SignatureMismatch({ description: problem }))

/** A signature without a prefix is sha1, as for the official verifier. */
const prefixed = /^(?:([^:]*):)?(.*)$/s

const decodeStatus = SchemaParser.decodeUnknownEffect(Assembly.Status)

/**
 * An error with the path of the first broken rule. The error does not repeat the text of the notification, which
 * contains capability URLs.
 */
const toMalformed = (issue: SchemaIssue.Issue): MalformedNotification => {
  const path = Input.fromSchemaIssue(issue)[0]?.path ?? []
  const description = path.length === 0 ? "the value is invalid" : `${path.join(".")} is invalid`
  return new MalformedNotification({ path, description })
}

const Settings = Schema.Struct({
  algorithms: Schema.optional(Schema.Array(Signer.Algorithm).check(Schema.isMinLength(1)))
})

/**
 * The options of a verifier: `algorithms` are the accepted algorithms, by default `sha384` and `sha256`. At least one is
 * required.
 *
 * @since 0.1.0
 * @category options
 */
export type Options = Schema.Codec.Encoded<typeof Settings>

const decode = Rules.decoder("Webhook", Settings)

const make = Effect.fnUntraced(function* (options: Options = {}) {
  const { algorithms = ["sha384", "sha256"] } = yield* decode(options)
  const { secret } = yield* Credentials.Credentials
  const mac = yield* Mac.Mac

  return Webhook.of({
    verify: Effect.fnUntraced(function* ({ signature, transloadit }) {
      const [, prefix = "sha1", digits = ""] = prefixed.exec(signature.trim()) ?? []
      const algorithm = algorithms.find((one) => one === prefix.toLowerCase())
      if (algorithm === undefined) return yield* mismatch(`the algorithm is not one of ${algorithms.join(", ")}`)
      const tag = Hex.decode(digits)
      if (Result.isFailure(tag) || digits !== digits.toLowerCase()) {
        return yield* mismatch("the digest is not in lower-case hexadecimal digits")
      }
      // `Mac` compares in constant time and refuses a digest of another length. HMAC cannot fail in a way that a caller
      // could handle.
      const key = yield* Hmac.key(algorithm, secret)
      const matches = yield* Effect.orDie(mac.verify(key, tag.success, new TextEncoder().encode(transloadit)))
      if (!matches) return yield* mismatch("the digest does not match the text")
      const body = yield* Effect.mapError(
        Effect.fromResult(Json.parse(transloadit)),
        (problem) => new MalformedNotification({ path: [], description: `the text is ${problem}` })
      )
      return yield* Effect.mapError(decodeStatus(body), toMalformed)
    })
  })
})

/**
 * Verifies notifications with the HMAC of WebCrypto and the Auth Secret in the context's `Credentials`. An invalid option
 * fails with `InvalidRequest`.
 *
 * A signature is `<algorithm>:<digest>`. The algorithm may be in upper case, the digest has lower-case hexadecimal
 * digits, and white space before and after the signature is ignored. A signature without a prefix is `sha1`; add `sha1`
 * to `algorithms` to accept it.
 *
 * @example
 * Webhook.layer().pipe(Layer.provide(CredentialsConfig.layer))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options?: Options
): Layer.Layer<Webhook, AuthError.CryptoUnavailable | InvalidRequest, Credentials.Credentials> =>
  Layer.effect(Webhook, make(options)).pipe(Layer.provide(Hmac.layer))

/**
 * Verifies a notification and returns its Assembly Status. The comparison of signatures takes constant time.
 *
 * **Gotchas**
 *
 * A notification has neither a nonce nor an expiry, so a copy of the notification is valid too. The work that a
 * notification starts should be idempotent. The service itself repeats a notification if the response is not 200.
 *
 * @example
 * const route = Effect.gen(function* () {
 *   const notification = yield* HttpServerRequest.schemaBodyForm(Webhook.Notification)
 *   const status = yield* Webhook.verify(notification)
 *   yield* Effect.log(`Assembly ${status.assembly_id}: ${Assembly.state(status)}`)
 * })
 *
 * @since 0.1.0
 * @category utilities
 */
export const verify = (
  notification: Notification
): Effect.Effect<Assembly.Status, SignatureMismatch | MalformedNotification, Webhook> =>
  Webhook.use((webhook) => webhook.verify(notification))
