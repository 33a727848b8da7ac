/**
 * `POST /token` (spec.md, "Authentication"). The specification names only `access_token`; the errors and the other
 * response fields are beyond the specification.
 */
import * as Auth from "@assembly-effect/schema/Auth"
import * as ServiceError from "@assembly-effect/schema/ServiceError"
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

export interface Environment {
  readonly send: Sender.Sender
  readonly credentials: Credentials.Credentials["Service"]
  readonly requestTimeout: Duration.Duration
  readonly budget: Budget.Budget | undefined
}

/** The token in a response, and its lifetime if the service reports it. */
export interface Answer {
  readonly value: Auth.AccessToken
  readonly lifetime: Duration.Duration | undefined
}

/** The maximum size of a response in bytes. A response with a token is much smaller. */
const maxBytes = 64 * 1024

const encodeForm = Schema.encodeEffect(Auth.OpenTokenRequest)
const decodeToken = Schema.decodeUnknownOption(Auth.TokenResponse)
const decodeError = Schema.decodeUnknownOption(ServiceError.ErrorObject)

const toRequest = Effect.fnUntraced(function* ({ audience, baseUrl, scopes }: Grant, { credentials }: Environment) {
  const [first, ...others] = scopes
  const form = yield* encodeForm(
    Auth.OpenTokenRequest.make(first === undefined ? {} : { scope: [first, ...others] })
  ).pipe(
    // As `Tokens` documents, a scope with white space is a defect.
    Effect.orDie
  )
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
  } satisfies Sender.Outgoing
})

/** The code in an error body. A text that does not look like a code is left out, because it may repeat a credential. */
const codeOf = (body: unknown, secrets: ReadonlyArray<string>): string | undefined =>
  Option.getOrUndefined(
    Option.map(decodeError(body), ({ error = "" }) => {
      const code = Redaction.code(error, secrets)
      return /^[A-Z][A-Z0-9_]{0,79}$/.test(code) ? code : ""
    })
  )

/** The error of a response without a token, chosen by its status and its error code. */
const toError = (
  grant: Grant,
  status: number,
  code: string | undefined,
  problem: string | undefined,
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
      return new AuthError.ScopeNotGranted({ ...refusal, scopes: grant.scopes })
    case "TOKEN_INVALID_AUDIENCE":
      return new AuthError.AudienceRefused(refusal)
  }
  if (status === 401) return new AuthError.WrongCredentials(refusal)
  if (status >= 500) {
    return new AuthError.TokenUnavailable({
      description: `the service responded with status ${status}`,
      status,
      ...(Option.isSome(wait) ? { retryAfter: wait.value } : undefined)
    })
  }
  return code === undefined
    ? new AuthError.UnexpectedTokenResponse({
        status,
        description: problem ?? "neither a token nor an error of the service"
      })
    : new AuthError.TokenRefused(refusal)
}

const unavailable = ({ code, permanent, description }: Outcome.Lost) =>
  new AuthError.TokenUnavailable({ description, permanent, ...(code === undefined ? undefined : { code }) })

/** The token in a response, or its error. `now` is the local time in milliseconds since 1970. */
const read = (
  grant: Grant,
  { credentials }: Environment,
  gathered: Outcome.Gathered,
  now: number
): Effect.Effect<Answer, AuthError.AuthError> => {
  const { end, headers, status } = gathered
  if (Outcome.isRedirect(status)) {
    return Effect.fail(new AuthError.UnexpectedTokenResponse({ status, description: "redirects are not followed" }))
  }
  if (Outcome.isSuccess(status) && typeof end !== "string") return Effect.fail(unavailable(end))
  const { description, text } = Outcome.textOf(gathered, maxBytes)
  const body = description === undefined ? Option.getOrUndefined(Outcome.parseJson(text)) : undefined
  const code = codeOf(body, [Redacted.value(credentials.secret)])
  const token = decodeToken(body)
  if (Outcome.isSuccess(status) && code === undefined && Option.isSome(token)) {
    const { access_token: value, expires_in: seconds } = token.value
    return Effect.succeed({ value, lifetime: seconds === undefined ? undefined : Duration.seconds(seconds) })
  }
  return Effect.fail(toError(grant, status, code, description, Wait.named(headers, body, now)))
}

/**
 * The error of a request that was not admitted. The error has no HTTP status, because nothing was sent.
 */
const notAdmitted = ({ message, wait }: Budget.NotAdmitted): AuthError.AuthError =>
  Option.match(wait, {
    onNone: () => new AuthError.TokenUnavailable({ description: message }),
    onSome: (retryAfter) => new AuthError.TokenRateLimited({ retryAfter })
  })

const exchange = Effect.fnUntraced(function* (
  grant: Grant,
  environment: Environment
): Effect.fn.Return<Answer, AuthError.AuthError> {
  const { requestTimeout, send } = environment
  const gathered = yield* send(yield* toRequest(grant, environment), {
    maxBytes,
    millis: Duration.toMillis(requestTimeout)
  }).pipe(
    Effect.mapError((error) =>
      error._tag === "Lost"
        ? unavailable(error)
        : new AuthError.TokenUnavailable({ description: `no response after ${Duration.toSeconds(requestTimeout)} s` })
    )
  )
  return yield* read(grant, environment, gathered, yield* Clock.currentTimeMillis)
})

/**
 * Requests one token. The credentials are sent only to the checked base URL, and redirects are not followed. The wait
 * for the budget does not count towards the time limit; the operation that needs the token may time out earlier.
 */
export const request = (grant: Grant, environment: Environment): Effect.Effect<Answer, AuthError.AuthError> => {
  const { budget } = environment
  const exchanged = exchange(grant, environment)
  if (budget === undefined) return exchanged
  return budget.enter({ url: grant.baseUrl, need: "request", until: Infinity }).pipe(
    Effect.mapError(notAdmitted),
    Effect.andThen(exchanged),
    Effect.tapError((error) =>
      // An error without a status is that of the budget itself.
      error._tag === "TokenRateLimited" && error.status !== undefined
        ? budget.pause("request", error.retryAfter)
        : Effect.void
    )
  )
}
