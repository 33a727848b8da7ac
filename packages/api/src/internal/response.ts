import { isRedirect } from "@assembly-effect/auth/Transport"
import * as Wait from "@assembly-effect/auth/Wait"
import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import type * as Transport from "../Transport.ts"
import * as Body from "./body.ts"
import * as Redact from "./redact.ts"

/** An error, and the wait that came with it. */
export interface Failed {
  readonly error: InstanceType<Operation.NamedError> | ApiError.Common | ApiError.AuthenticationFailed
  readonly wait: Option.Option<Duration.Duration>
}

/** An error that no answer came with. */
export const withoutWait = (error: Failed["error"]): Failed => ({ error, wait: Option.none() })

/** What the decoder has to know about the request. */
export interface Asked {
  readonly subject: Transport.Subject
  readonly secrets: ReadonlyArray<string>
}

const decodeErrorObject = Schema.decodeUnknownOption(ServiceError.ErrorObject)

const parseJson = (text: string): Result.Result<unknown, unknown> => Result.try((): unknown => JSON.parse(text))

const textOf = (body: unknown, key: string): string | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const value: unknown = (body as Readonly<Record<string, unknown>>)[key]
  return typeof value === "string" ? value : undefined
}

const isSuccessful = (status: number): boolean => status >= 200 && status < 300

/** The codes that are about the request; an Assembly never fails with one. */
const isAboutRequest = (code: string): boolean =>
  ServiceError.rateLimitCodes.has(code) || ServiceError.authenticationCodes.has(code)

/**
 * Whether a body is what the operation answers: with a result, any 2xx without an error code; with an Assembly Status,
 * also that of an Assembly that failed, which comes with its error code and sometimes under 4xx.
 */
const isAnswer = (operation: Operation.Any, status: number, body: unknown): boolean => {
  const code = textOf(body, "error")
  if (code === undefined || operation.answers === "result") return isSuccessful(status) && code === undefined
  return status !== 429 && status < 500 && !isAboutRequest(code) && textOf(body, "assembly_id") !== undefined
}

const toDetails = (error: ServiceError.ErrorObject, status: number, subject: Transport.Subject): ApiError.Details => {
  const assemblyId = error.assembly_id ?? subject.assemblyId
  return {
    code: error.error ?? "",
    status,
    message: error.message ?? error.error ?? "",
    ...(error.reason === undefined ? undefined : { reason: error.reason }),
    ...(assemblyId === undefined ? undefined : { assemblyId })
  }
}

/** The error that a code stands for, first within the operation. */
const toError = (
  operation: Operation.Any,
  response: HttpClientResponse.HttpClientResponse,
  details: ApiError.Details,
  wait: Option.Option<Duration.Duration>
): Effect.Effect<Failed["error"]> => {
  const Named = operation.errors[details.code]
  if (Named !== undefined) return Effect.succeed(new Named(details))
  if (details.status === 429 || ServiceError.rateLimitCodes.has(details.code)) {
    return Effect.succeed(
      new ApiError.RateLimited({ ...details, retryAfter: Option.getOrElse(wait, () => Duration.zero) })
    )
  }
  if (operation.auth === "signed" && ServiceError.authenticationCodes.has(details.code)) {
    if (details.code !== "AUTH_EXPIRED") return Effect.succeed(new ApiError.AuthenticationFailed(details))
    return Effect.map(
      Wait.clockSkew(response.headers),
      (skew) => new ApiError.AuthenticationFailed(Option.isSome(skew) ? { ...details, clockSkew: skew.value } : details)
    )
  }
  return Effect.succeed(new ApiError.ServiceFailure(details))
}

/**
 * The second half of an operation: answer → success or error. JSON is read whatever the content type says, since the
 * service may serve it as text/plain (spec.md, "Endpoints").
 */
export const decoder = (operation: Operation.Any, options: { readonly maxBytes: number }) => {
  const decodeSuccess = SchemaParser.decodeUnknownEffect(operation.success, { errors: "all" })

  return (response: HttpClientResponse.HttpClientResponse, { secrets, subject }: Asked) => {
    const { headers, status } = response

    const unexpected = (problem: string, text: string) =>
      new ApiError.UnexpectedResponse({ ...subject, status, problem, excerpt: Redact.excerpt(text, secrets) })

    /** The status alone says "too many requests", whoever in between wrote the body. */
    const undecodable = (problem: string, text: string, wait: Option.Option<Duration.Duration>): Failed["error"] =>
      status === 429
        ? new ApiError.RateLimited({
            ...toDetails({}, status, subject),
            retryAfter: Option.getOrElse(wait, () => Duration.zero)
          })
        : unexpected(problem, text)

    const fail = Effect.fnUntraced(function* (text: string, body: Result.Result<unknown, unknown>) {
      // The other side may repeat what was asked; a proof must not reach an error.
      const safe = Result.map(body, (parsed) =>
        secrets.some((secret) => text.includes(secret)) ? JSON.parse(Redact.redact(text, secrets)) : parsed
      )
      const error = Option.flatMap(Result.getSuccess(safe), decodeErrorObject)
      const wait = yield* Wait.named(
        headers,
        Result.getOrElse(safe, () => undefined)
      )
      const problem = Result.isFailure(body) ? "a body that is not JSON" : "a body that is not an error of the service"
      return yield* Effect.fail<Failed>({
        wait,
        error: Option.isSome(error)
          ? yield* toError(operation, response, toDetails(error.value, status, subject), wait)
          : undecodable(problem, text, wait)
      })
    })

    if (isRedirect(status)) return Effect.fail(withoutWait(unexpected("a redirect, which is not followed", "")))

    return Body.readText(response, { ...options, ...subject, secrets }).pipe(
      Effect.mapError(withoutWait),
      Effect.flatMap((text) => {
        const body = parseJson(text)
        if (Result.isFailure(body) || !isAnswer(operation, status, body.success)) return fail(text, body)
        return Effect.mapError(decodeSuccess(body.success), (issue) => {
          const [first] = ApiError.fromSchemaIssue(issue)
          return withoutWait(
            unexpected(`a body that breaks a rule at ${first?.path.join(".")}: ${first?.message}`, text)
          )
        })
      })
    )
  }
}
