/**
 * `POST /token` (spec.md, "Authentication"). Its answers beyond `access_token`, and its errors, are beyond the
 * specification.
 */
import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as AuthError from "../AuthError.ts"
import type * as Credentials from "../Credentials.ts"
import type { Grant } from "../TokenStore.ts"
import * as Transport from "../Transport.ts"
import * as Wait from "../Wait.ts"

export interface Environment {
  readonly http: HttpClient.HttpClient
  readonly credentials: Credentials.Credentials["Service"]
  readonly requestTimeout: Duration.Duration
}

/** A token as it was answered, and for how long it is valid where the service says so. */
export interface Answer {
  readonly value: string
  readonly lifetime: Duration.Duration | undefined
}

/** No answer of the endpoint is larger than a few hundred bytes. */
const maxBytes = 64 * 1024

const TokenResponse = Schema.Struct({
  // It becomes a header: nothing but visible ASCII may be in it.
  access_token: Schema.String.check(Schema.isPattern(/^[!-~]+$/)),
  token_type: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^bearer$/i))),
  expires_in: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  scope: Schema.optionalKey(Schema.String)
})

const decodeToken = Schema.decodeUnknownOption(TokenResponse)
const decodeError = Schema.decodeUnknownOption(ServiceError.ErrorObject)

const toRequest = ({ audience, baseUrl, scopes }: Grant, { credentials }: Environment) =>
  HttpClientRequest.post(`${baseUrl.replace(/\/+$/, "")}/token`, { acceptJson: true }).pipe(
    HttpClientRequest.basicAuth(credentials.key, credentials.secret),
    HttpClientRequest.bodyUrlParams({
      grant_type: "client_credentials",
      aud: audience,
      ...(scopes.length === 0 ? undefined : { scope: scopes.join(" ") })
    })
  )

/** The code of an error body. Anything that does not look like one may be a repeated credential, and is not told. */
const codeOf = (body: unknown): string | undefined =>
  Option.getOrUndefined(
    Option.map(decodeError(body), ({ error }) =>
      error !== undefined && /^[A-Z][A-Z0-9_]{0,79}$/.test(error) ? error : ""
    )
  )

/** The error that an answer without a token stands for, by its code, else by its status. */
const toError = (
  grant: Grant,
  status: number,
  code: string | undefined,
  retryAfter: Duration.Duration
): AuthError.AuthError => {
  const refusal = { code: code ?? "", status }
  if (status === 429 || ServiceError.rateLimitCodes.has(refusal.code)) {
    return new AuthError.TokenRateLimited({ ...refusal, retryAfter })
  }
  switch (refusal.code) {
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
  if (status >= 500) return new AuthError.TokenUnavailable({ problem: `the service answered with status ${status}` })
  return code === undefined
    ? new AuthError.UnexpectedTokenResponse({ status, problem: "neither a token nor an error of the service" })
    : new AuthError.TokenRefused(refusal)
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const read = (grant: Grant) =>
  Effect.fnUntraced(function* (
    response: HttpClientResponse.HttpClientResponse
  ): Effect.fn.Return<Answer, AuthError.AuthError> {
    const { headers, status } = response
    const unexpected = (problem: string) => new AuthError.UnexpectedTokenResponse({ status, problem })
    if (Transport.isRedirect(status)) return yield* unexpected("a redirect, which is not followed")

    const text = yield* Effect.mapError(Transport.readText(response, { maxBytes }), (error) =>
      error._tag === "HttpClientError"
        ? new AuthError.TokenUnavailable({ problem: Transport.problem(error) })
        : unexpected(error.problem)
    )
    const body = parseJson(text)
    const code = codeOf(body)
    const token = decodeToken(body)
    if (status >= 200 && status < 300 && code === undefined && Option.isSome(token)) {
      const { access_token: value, expires_in: seconds } = token.value
      return { value, lifetime: seconds === undefined ? undefined : Duration.seconds(seconds) }
    }
    const wait = yield* Wait.named(headers, body)
    return yield* Effect.fail(
      toError(
        grant,
        status,
        code,
        Option.getOrElse(wait, () => Duration.zero)
      )
    )
  })

/**
 * Asks for one token. The credentials go to the checked base URL only, and no redirect takes them elsewhere.
 */
export const request = (grant: Grant, environment: Environment): Effect.Effect<Answer, AuthError.AuthError> =>
  Transport.send(environment.http, toRequest(grant, environment)).pipe(
    Effect.mapError((error) => new AuthError.TokenUnavailable({ problem: Transport.problem(error) })),
    Effect.flatMap(read(grant)),
    Effect.scoped,
    Effect.timeoutOrElse({
      duration: environment.requestTimeout,
      orElse: () =>
        Effect.fail(
          new AuthError.TokenUnavailable({ problem: `no answer after ${Duration.format(environment.requestTimeout)}` })
        )
    })
  )
