/**
 * `POST /token` (spec.md, "Authentication"). The specification names only `access_token`; the errors and the other
 * response fields are beyond the specification.
 */
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as UrlParams from "effect/http/UrlParams"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Budget from "../unstable/Budget.ts"
import * as AuthError from "../AuthError.ts"
import type * as Credentials from "../Credentials.ts"
import * as Redaction from "../Redaction.ts"
import type { Grant } from "../TokenStore.ts"
import type * as Sender from "../unstable/Sender.ts"
import * as Outcome from "../unstable/Outcome.ts"
import * as Wait from "../unstable/Wait.ts"

/** `requestTimeout` is in milliseconds. */
export interface Environment {
  readonly send: Sender.Sender
  readonly credentials: Credentials.Credentials["Service"]
  readonly requestTimeout: number
  readonly budget: Budget.Budget | undefined
}

/** The token in a response, and its lifetime in milliseconds if the service reports it. */
export interface Answer {
  readonly value: Auth.AccessToken
  readonly lifetime: number | undefined
}

/** The maximum size of a response in bytes. A response with a token is much smaller. */
const maxBytes = 64 * 1024

const encodeForm = Schema.encodeSync(Auth.TokenRequest)
const decodeToken = Schema.decodeUnknownOption(Auth.TokenResponse)
const decodeError = Schema.decodeUnknownOption(ServiceError.ErrorObject)

const toRequest = ({ audience, baseUrl, scopes }: Grant, { credentials }: Environment): Sender.Outgoing => {
  const [first, ...others] = scopes
  // As `Tokens` documents, a scope with white space is a defect.
  const form = encodeForm(Auth.TokenRequest.make(first === undefined ? {} : { scope: [first, ...others] }))
  const { origin, pathname } = new URL(baseUrl)
  return {
    method: "POST",
    origin,
    path: `${pathname.replace(/\/+$/, "")}/token`,
    headers: {
      accept: "application/json",
      authorization: `Basic ${Base64.encode(`${credentials.key}:${Redacted.value(credentials.secret)}`)}`
    },
    // The program may choose another audience than `api2`.
    body: {
      content: UrlParams.toString(UrlParams.fromInput({ ...form, aud: audience })),
      contentType: "application/x-www-form-urlencoded"
    }
  }
}

/** The code in an error body. A text that does not look like a code is left out, because it may repeat a credential. */
const codeOf = (body: unknown, secret: string): string | undefined => {
  const found = decodeError(body)
  if (Option.isNone(found)) return undefined
  const code = Redaction.code(found.value.error ?? "", [secret])
  return /^[A-Z][A-Z0-9_]{0,79}$/.test(code) ? code : ""
}

/** The error of a response without a token, chosen by its status and its error code. */
const toError = (
  { scopes }: Grant,
  status: number,
  code: string | undefined,
  description = "neither a token nor an error of the service",
  wait: Option.Option<Duration.Duration>
): AuthError.AuthError => {
  const refusal = code ? { code, status } : { status }
  if (status === 429 || ServiceError.rateLimitCodes.has(code ?? "")) {
    return new AuthError.TokenRateLimited({ ...refusal, retryAfter: Option.getOrElse(wait, () => Duration.zero) })
  }
  switch (code) {
    case "GET_ACCOUNT_UNKNOWN_AUTH_KEY":
    case "TOKEN_INVALID_CREDENTIALS":
      return new AuthError.WrongCredentials(refusal)
    case "TOKEN_INVALID_SCOPE":
    case "INSUFFICIENT_AUTH_SCOPE":
      return new AuthError.ScopeNotGranted({ ...refusal, scopes })
    case "TOKEN_INVALID_AUDIENCE":
      return new AuthError.AudienceRefused(refusal)
  }
  if (status === 401) return new AuthError.WrongCredentials(refusal)
  if (status >= 500) {
    const told = { description: `the service responded with status ${status}`, status }
    return new AuthError.TokenUnavailable(Option.isSome(wait) ? { ...told, retryAfter: wait.value } : told)
  }
  return code === undefined
    ? new AuthError.UnexpectedTokenResponse({ status, description })
    : new AuthError.TokenRefused(refusal)
}

const lost = ({ code, permanent, description }: Outcome.Lost) =>
  new AuthError.TokenUnavailable({ description, permanent, ...(code === undefined ? undefined : { code }) })

/** The token in a response, or its error. `now` is the local time in milliseconds since 1970. */
const read = (
  grant: Grant,
  { credentials }: Environment,
  gathered: Outcome.Gathered,
  now: number
): Effect.Effect<Answer, AuthError.AuthError> => {
  const { end, headers, status } = gathered
  const isOk = Outcome.isSuccess(status)
  if (Outcome.isRedirect(status)) {
    return Effect.fail(new AuthError.UnexpectedTokenResponse({ status, description: "redirects are not followed" }))
  }
  if (isOk && typeof end !== "string") return Effect.fail(lost(end))
  const { description, text } = Outcome.textOf(gathered, maxBytes)
  const body = description === undefined ? Option.getOrUndefined(Outcome.parseJson(text)) : undefined
  const code = codeOf(body, Redacted.value(credentials.secret))
  const token = decodeToken(body)
  if (isOk && code === undefined && Option.isSome(token)) {
    const { access_token: value, expires_in: seconds } = token.value
    return Effect.succeed({ value, lifetime: seconds === undefined ? undefined : seconds * 1000 })
  }
  return Effect.fail(toError(grant, status, code, description, Wait.named(headers, body, now)))
}

/** The error of a request that was not admitted. The error has no HTTP status, because nothing was sent. */
const notAdmitted = ({ message, wait }: Budget.NotAdmitted): AuthError.AuthError =>
  Option.match(wait, {
    onNone: () => new AuthError.TokenUnavailable({ description: message }),
    onSome: (retryAfter) => new AuthError.TokenRateLimited({ retryAfter })
  })

/**
 * Requests one token. The credentials are sent only to the checked base URL, and redirects are not followed. The wait
 * for the budget does not count towards the time limit; the operation that needs the token may time out earlier.
 */
export const request = Effect.fnUntraced(function* (
  grant: Grant,
  environment: Environment
): Effect.fn.Return<Answer, AuthError.AuthError> {
  const { budget, requestTimeout, send } = environment
  if (budget !== undefined) {
    const permit = { url: grant.baseUrl, need: "request", until: Infinity } as const
    yield* Effect.mapError(budget.enter(permit), notAdmitted)
  }
  const limits = { maxBytes, millis: requestTimeout }
  const gathered = yield* Effect.mapError(send(toRequest(grant, environment), limits), (error) =>
    error._tag === "Lost"
      ? lost(error)
      : new AuthError.TokenUnavailable({ description: `no response after ${requestTimeout / 1000} s` })
  )
  return yield* Effect.tapError(read(grant, environment, gathered, yield* Clock.currentTimeMillis), (error) =>
    budget !== undefined && error._tag === "TokenRateLimited" ? budget.pause("request", error.retryAfter) : Effect.void
  )
})
