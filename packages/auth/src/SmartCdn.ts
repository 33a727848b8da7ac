/**
 * Signed URLs of the Smart CDN, which runs a Template when a URL is requested, and caches the result. The Smart CDN is
 * beyond the specification.
 */
import { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as AuthError from "./AuthError.ts"
import * as Credentials from "./Credentials.ts"
import * as Hmac from "./internal/hmac.ts"
import * as Signer from "./Signer.ts"

/**
 * A value of a query parameter. A number must be finite.
 *
 * @since 0.1.0
 * @category models
 */
export type Value = string | number | boolean

/**
 * The values from which a URL is made.
 *
 * - `workspace`: the slug of the Workspace, which is a part of the host name.
 * - `template`: the slug or the id of the Template.
 * - `input`: the value of `${fields.input}` in the Template, often a path or a URL. `input` may be empty.
 * - `urlParams`: further query parameters, which the Template reads as fields. A list of values repeats the parameter,
 *   once for each value.
 * - `expiresAt`: the time after which the CDN refuses the URL: a `DateTime`, or milliseconds since 1970. The default is
 *   one hour after the current time.
 *
 * @since 0.1.0
 * @category models
 */
export interface Request {
  readonly workspace: string
  readonly template: string
  readonly input: string
  readonly urlParams?: Readonly<Record<string, Value | ReadonlyArray<Value>>> | undefined
  readonly expiresAt?: DateTime.DateTime | number | undefined
}

/**
 * A field breaks a rule, so no URL was made. `issues` names each invalid field and its rule.
 *
 * @since 0.1.0
 * @category errors
 */
export class InvalidSmartCdnRequest extends Schema.TaggedError<InvalidSmartCdnRequest>()("InvalidSmartCdnRequest", {
  issues: Schema.Array(Issue)
}) {
  override get message() {
    const problems = this.issues.map(({ message, path }) => [path.join("."), message].filter(Boolean).join(": "))
    return `the Smart CDN URL cannot be signed: ${problems.join("; ")}`
  }
}

/**
 * Signs URLs of the Smart CDN.
 *
 * @since 0.1.0
 * @category services
 */
export class SmartCdn extends Context.Service<
  SmartCdn,
  {
    readonly signedUrl: (request: Request) => Effect.Effect<string, InvalidSmartCdnRequest>
  }
>()("@assembly-effect/auth/SmartCdn") {}

/** The default lifetime of a URL in milliseconds: an hour. */
const lifetime = 60 * 60 * 1000

/** The latest time of a `Date`, in milliseconds since 1970. */
const latest = 8.64e15

/** The query parameters that `signedUrl` sets itself. `urlParams` must not contain them. */
const reserved: ReadonlySet<string> = new Set(["auth_key", "exp", "sig"])

/** Whether a value is a text in valid Unicode. An untyped caller may pass a value of any type. */
const isText = (value: unknown): value is string => typeof value === "string" && value.isWellFormed()

const workspaceRule = (value: unknown): string | undefined =>
  isText(value) && /^[A-Za-z0-9_-]{1,63}$/.test(value)
    ? undefined
    : "Expected 1 to 63 letters, digits, hyphens and underscores, because it is a part of the host name"

/** A URL parser removes the segments `.` and `..`, so the CDN would get another path than the signed path. */
const segmentRule = (value: unknown, mayBeEmpty: boolean): string | undefined =>
  isText(value) && value !== "." && value !== ".." && (mayBeEmpty || value !== "")
    ? undefined
    : `Expected a ${mayBeEmpty ? "" : "non-empty "}text in valid Unicode, other than . and ..`

const expiryRule = (expiry: unknown): string | undefined =>
  typeof expiry === "number" && Number.isInteger(expiry) && expiry > 0 && expiry <= latest
    ? undefined
    : "Expected a DateTime after 1970, or a whole number of milliseconds since 1970"

const nameRule = (name: string): string | undefined => {
  if (reserved.has(name)) return "Expected a name other than auth_key, exp and sig, which the signature uses"
  return isText(name) ? undefined : "Expected a name in valid Unicode"
}

const valueRule = (value: unknown): string | undefined =>
  isText(value) || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
    ? undefined
    : "Expected a text in valid Unicode, a finite number or a boolean"

type UrlParams = NonNullable<Request["urlParams"]>

const isList = (value: Value | ReadonlyArray<Value>): value is ReadonlyArray<Value> => Array.isArray(value)

const issue = (path: ReadonlyArray<string>, message: string | undefined): ReadonlyArray<Issue> =>
  message === undefined ? [] : [{ path, message }]

const valueIssues = (name: string, value: Value | ReadonlyArray<Value>): ReadonlyArray<Issue> =>
  isList(value)
    ? // `flatMap` skips the holes of a list. The spread turns the holes into undefined values, which are refused.
      [...value].flatMap((one, index) => issue(["urlParams", name, String(index)], valueRule(one)))
    : issue(["urlParams", name], valueRule(value))

const isRecord = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const paramIssues = (urlParams: UrlParams): ReadonlyArray<Issue> =>
  isRecord(urlParams)
    ? Object.entries(urlParams).flatMap(([name, value]) =>
        issue(["urlParams", name], nameRule(name)).concat(valueIssues(name, value))
      )
    : issue(["urlParams"], "Expected an object")

const findIssues = (request: Request, expiry: unknown): ReadonlyArray<Issue> => [
  ...issue(["workspace"], workspaceRule(request.workspace)),
  ...issue(["template"], segmentRule(request.template, false)),
  ...issue(["input"], segmentRule(request.input, true)),
  ...paramIssues(request.urlParams === undefined ? {} : request.urlParams),
  ...issue(["expiresAt"], expiryRule(expiry))
]

/** The sorted query, without the signature. */
const toQuery = (key: string, urlParams: UrlParams, expiry: number): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(urlParams)) {
    for (const one of isList(value) ? value : [value]) query.append(name, String(one))
  }
  query.append("auth_key", key)
  query.append("exp", String(expiry))
  query.sort()
  return query.toString()
}

/** The time of expiry in milliseconds since 1970. */
const toExpiry = (expiresAt: Request["expiresAt"]): Effect.Effect<number> => {
  if (expiresAt === undefined) return Effect.map(Clock.currentTimeMillis, (now) => now + lifetime)
  // An untyped caller may pass null or an object that is not a DateTime. `expiryRule` refuses null. For an object that
  // is not a DateTime, `epochMilliseconds` is undefined, which `expiryRule` refuses too.
  const isDate = typeof expiresAt === "object" && expiresAt !== null
  return Effect.succeed(isDate ? expiresAt.epochMilliseconds : expiresAt)
}

/**
 * Signs URLs with the Auth Key and the Auth Secret in the context's `Credentials`. The CDN accepts only `sha256`, even
 * if the program signs its other requests with another algorithm.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = Effect.gen(function* () {
  const { key, secret } = yield* Credentials.Credentials
  const signer = yield* Signer.make({ secret, algorithm: "sha256" })
  return SmartCdn.of({
    signedUrl: Effect.fnUntraced(function* (request) {
      if (!isRecord(request)) {
        return yield* new InvalidSmartCdnRequest({ issues: issue([], "Expected an object") })
      }
      const expiry = yield* toExpiry(request.expiresAt)
      const issues = findIssues(request, expiry)
      if (issues.length > 0) return yield* new InvalidSmartCdnRequest({ issues })
      const { input, template, urlParams = {}, workspace } = request
      const path = `${encodeURIComponent(template)}/${encodeURIComponent(input)}?${toQuery(key, urlParams, expiry)}`
      const signature = Redacted.value(yield* signer.sign(`${workspace}/${path}`))
      return `https://${workspace}.tlcdn.com/${path}&sig=${encodeURIComponent(signature)}`
    })
  })
})

/**
 * Signs URLs with the HMAC of WebCrypto. An empty secret is a defect.
 *
 * @example
 * SmartCdn.layer.pipe(Layer.provide(CredentialsConfig.layer))
 *
 * @since 0.1.0
 * @category layers
 */
export const layer: Layer.Layer<SmartCdn, AuthError.CryptoUnavailable, Credentials.Credentials> = Layer.effect(
  SmartCdn,
  Effect.orDie(make)
).pipe(Layer.provide(Hmac.layer))

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
export const signedUrl = (request: Request): Effect.Effect<string, InvalidSmartCdnRequest, SmartCdn> =>
  SmartCdn.use((smartCdn) => smartCdn.signedUrl(request))
