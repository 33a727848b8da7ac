/**
 * Signed URLs of the Smart CDN, which runs a Template when a URL is requested, and caches the result. The Smart CDN is
 * beyond the specification.
 */
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as AuthError from "./AuthError.ts"
import * as Credentials from "./Credentials.ts"
import * as Hmac from "./internal/hmac.ts"
import * as Signer from "./Signer.ts"

const rule = (expected: string, isValid: (text: string) => boolean) =>
  Schema.String.check(Schema.makeFilter((text) => text.isWellFormed() && isValid(text), { expected }))

/** A URL parser removes the segments `.` and `..`, so the CDN would get another path than the signed path. */
const segment = (kind: string, isValid: (text: string) => boolean) =>
  rule(`a ${kind} in valid Unicode, other than . and ..`, (text) => text !== "." && text !== ".." && isValid(text))

const value = Schema.Union([rule("a text in valid Unicode", () => true), Schema.Finite, Schema.Boolean])

/** The query parameters that `signedUrl` sets itself. `urlParams` must not contain them. */
const reserved: ReadonlySet<string> = new Set(["auth_key", "exp", "sig"])

const urlParams = Schema.Record(Schema.String, Schema.Union([value, Schema.Array(value)])).check(
  Schema.makeFilter((params) =>
    Object.keys(params)
      .filter((name) => reserved.has(name) || !name.isWellFormed())
      .map((name) => ({
        path: [name],
        issue: "Expected a name in valid Unicode, other than auth_key, exp and sig, which the signature uses"
      }))
  )
)

type Expiry = DateTime.DateTime | number

const millisOf = (expiry: Expiry): number => (DateTime.isDateTime(expiry) ? expiry.epochMilliseconds : expiry)

/** The latest time of a `Date`, in milliseconds since 1970. */
const latest = 8.64e15

const isExpiry = (given: unknown): given is Expiry => {
  const millis = millisOf(given as Expiry)
  return Number.isInteger(millis) && millis > 0 && millis <= latest
}

/**
 * The values from which a URL is made.
 *
 * - `workspace`: the slug of the Workspace, which is a part of the host name.
 * - `template`: the slug or the id of the Template.
 * - `input`: the value of `${fields.input}` in the Template, often a path or a URL. `input` may be empty.
 * - `urlParams`: further query parameters, which the Template reads as fields. A list of values repeats the parameter,
 *   once for each value. A number must be finite.
 * - `expiresAt`: the time after which the CDN refuses the URL: a `DateTime`, or milliseconds since 1970. The default is
 *   one hour after the current time.
 *
 * @since 0.1.0
 * @category schemas
 */
const Request = Schema.Struct({
  workspace: rule("1 to 63 letters, digits, hyphens and underscores, because it is a part of the host name", (text) =>
    /^[A-Za-z0-9_-]{1,63}$/.test(text)
  ),
  template: segment("non-empty text", (text) => text !== ""),
  input: segment("text", () => true),
  urlParams: Schema.optional(urlParams),
  expiresAt: Schema.optional(
    Schema.declare(isExpiry, { expected: "a DateTime after 1970, or a whole number of milliseconds since 1970" })
  )
})
/**
 * @since 0.1.0
 * @category models
 */
type Request = typeof Request.Type

const check = Input.encoder(Request)

/**
 * Signs URLs of the Smart CDN. The error names each field that breaks a rule.
 *
 * @since 0.1.0
 * @category services
 */
export class SmartCdn extends Context.Service<
  SmartCdn,
  { readonly signedUrl: (request: Request) => Effect.Effect<string, InvalidRequest> }
>()("@assembly-effect/auth/SmartCdn") {}

/** The default lifetime of a URL in milliseconds: an hour. */
const lifetime = 60 * 60 * 1000

/** The sorted query, as the service's own client writes it. */
const toQuery = (key: string, params: NonNullable<Request["urlParams"]>, expiry: number): string => {
  const query = new URLSearchParams({ auth_key: key, exp: String(expiry) })
  for (const [name, values] of Object.entries(params)) {
    for (const one of [values].flat()) query.append(name, String(one))
  }
  query.sort()
  return query.toString()
}

const make = Effect.gen(function* () {
  const { key, secret } = yield* Credentials.Credentials
  const signer = yield* Signer.make({ secret, algorithm: "sha256" })
  return SmartCdn.of({
    signedUrl: Effect.fnUntraced(function* (request) {
      yield* Effect.mapError(
        Effect.fromResult(check(request)),
        (issues) => new InvalidRequest({ operation: "SmartCdn.signedUrl", issues })
      )
      const { expiresAt = (yield* Clock.currentTimeMillis) + lifetime, input, template, workspace } = request
      const query = toQuery(key, request.urlParams ?? {}, millisOf(expiresAt))
      const path = `${encodeURIComponent(template)}/${encodeURIComponent(input)}?${query}`
      const signature = Redacted.value(yield* signer.sign(`${workspace}/${path}`))
      return `https://${workspace}.tlcdn.com/${path}&sig=${encodeURIComponent(signature)}`
    })
  })
})

/**
 * Signs URLs with the HMAC of WebCrypto, and the Auth Key and the Auth Secret in the context's `Credentials`. The CDN accepts
 * only `sha256`, even if the program signs its other requests with another algorithm. An empty secret is a defect.
 *
 * @example
 * SmartCdn.layer.pipe(Layer.provide(CredentialsConfig.layer))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SmartCdn, AuthError.CryptoUnavailable, Credentials.Credentials> = Layer.fresh(
  Layer.effect(SmartCdn, Effect.orDie(make)).pipe(Layer.provide(Hmac.layer))
)

/**
 * Makes a signed URL of the Smart CDN. Nothing is sent. The URL is the same as the URL that the service's own client
 * makes.
 *
 * **Details**
 *
 * The signature covers the Workspace in the host name, and everything after the host except the signature itself. The
 * names `auth_key`, `exp` and `sig` are refused in `urlParams`, because the signature uses them.
 *
 * **Gotchas**
 *
 * Anybody who has the URL can use it until it expires. The URL contains the Auth Key, but not the secret. Browsers and
 * the CDN cache by URL, so URLs with the same `expiresAt` are cached better than a new URL for each visitor.
 *
 * @example
 * SmartCdn.signedUrl({
 *   workspace: "my-workspace",
 *   template: "thumbnails",
 *   input: "photos/cat.jpg",
 *   urlParams: { w: 640, f: ["avif", "webp"] }
 * })
 *
 * @since 0.1.0
 * @category utilities
 */
export const signedUrl = (request: Request): Effect.Effect<string, InvalidRequest, SmartCdn> =>
  SmartCdn.use((smartCdn) => smartCdn.signedUrl(request))
