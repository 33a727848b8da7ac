import * as Input from "../unstable/Input.ts"
import * as Redaction from "@assembly-effect/auth/Redaction"
import * as AuthTransport from "@assembly-effect/auth/unstable/Transport"
import * as Wait from "@assembly-effect/auth/unstable/Wait"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Json from "@assembly-effect/schema/Json"
import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import * as Transport from "../unstable/Transport.ts"
import * as Body from "./body.ts"

/** An error, and the wait that came with it. */
export interface Failed {
  readonly error: InstanceType<Operation.NamedError> | ApiError.Common | ApiError.AuthenticationFailed
  readonly wait: Option.Option<Duration.Duration>
}

/** An error that no answer came with. */
export const withoutWait = (error: Failed["error"]): Failed => ({ error, wait: Option.none() })

/** An error of a request that did not leave; the wait for its permit is one that the policy hears of. */
export const unsent = (error: ApiError.RateLimited | ApiError.TransportFailure): Failed => ({
  error,
  wait: error._tag === "RateLimited" ? Option.some(error.retryAfter) : Option.none()
})

/** What the decoder has to know about the request. */
export interface Asked {
  readonly subject: Transport.Subject
  readonly secrets: ReadonlyArray<string>
}

/** An answer to an operation, and what was asked. */
interface Answered extends Asked {
  readonly operation: Operation.Any
  readonly response: HttpClientResponse.HttpClientResponse
}

const decodeErrorObject = Schema.decodeUnknownOption(ServiceError.ErrorObject)
const decodeAssemblyId = Schema.decodeUnknownOption(Assembly.AssemblyId)

const textOf = (body: unknown, key: string): string | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const value: unknown = (body as Readonly<Record<string, unknown>>)[key]
  return typeof value === "string" ? value : undefined
}

/** The code of an error object; an empty or null `error` is none. */
const codeOf = (body: unknown): string | undefined => textOf(body, "error") || undefined

/** The codes that are about the request; an Assembly never fails with one. */
const isAboutRequest = (code: string): boolean =>
  ServiceError.rateLimitCodes.has(code) || ServiceError.authenticationCodes.has(code)

/**
 * Whether a body is what the operation answers: with a result, any 2xx without an error code; with an Assembly Status,
 * also that of an Assembly that failed, which comes with its error code and sometimes under 4xx.
 */
const isAnswer = (operation: Operation.Any, status: number, body: unknown): boolean => {
  const code = codeOf(body)
  if (code === undefined || operation.answers === "result") return AuthTransport.isSuccess(status) && code === undefined
  return status !== 429 && status < 500 && !isAboutRequest(code) && textOf(body, "assembly_id") !== undefined
}

/** What an error object tells. The other side may repeat what was asked, so its texts are redacted. */
const toDetails = (
  error: ServiceError.ErrorObject,
  { response: { headers, status }, secrets, subject }: Answered
): ApiError.Details => {
  // Who asks again with this id must not come upon a stranger's Assembly.
  const assemblyId = subject.assemblyId ?? Option.getOrUndefined(decodeAssemblyId(error.assembly_id))
  return {
    ...subject,
    ...Transport.requestIdOf(headers, secrets),
    code: Redaction.code(error.error ?? "", secrets),
    status,
    explanation: Redaction.text(error.message ?? error.error ?? "", { secrets }),
    ...(error.reason === undefined ? undefined : { reason: Redaction.json(error.reason, { secrets }) }),
    ...(assemblyId === undefined ? undefined : { assemblyId })
  }
}

/** The error that a code stands for, first within the operation. */
const toError = (
  { operation, response }: Answered,
  details: ApiError.Details,
  retryAfter: Duration.Duration
): Effect.Effect<Failed["error"]> => {
  // Every object has a `toString`, and the code is the other side's.
  const Named = Object.hasOwn(operation.errors, details.code) ? operation.errors[details.code] : undefined
  if (Named !== undefined) return Effect.succeed(new Named(details))
  if (details.status === 429 || ServiceError.rateLimitCodes.has(details.code)) {
    return Effect.succeed(new ApiError.RateLimited({ ...details, retryAfter }))
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

const unexpected = ({ response, secrets, subject }: Answered, problem: string, text: string) =>
  new ApiError.UnexpectedResponse({
    ...subject,
    ...Transport.requestIdOf(response.headers, secrets),
    status: response.status,
    // The path in the decode error can contain keys of the response, so it is redacted too.
    problem: Redaction.text(problem, { secrets }),
    excerpt: Redaction.excerpt(text, secrets)
  })

/** The status alone says "too many requests", whoever in between wrote the body. */
const undecodable = (
  answered: Answered,
  problem: string,
  text: string,
  retryAfter: Duration.Duration
): Failed["error"] =>
  answered.response.status === 429
    ? new ApiError.RateLimited({ ...toDetails({}, answered), retryAfter })
    : unexpected(answered, problem, text)

/** The value of a body, or how that is no JSON to read. */
const readJson = (text: string): Result.Result<unknown, string> =>
  Result.mapError(Json.parse(text), (problem) => (problem === "not JSON" ? "that is not JSON" : problem))

/** The failure that an answer stands for, whose text was `body` where it was JSON. */
const toFailed = Effect.fnUntraced(function* (
  answered: Answered,
  { problem: unreadable, text }: AuthTransport.ErrorText,
  body: Result.Result<unknown, string>
): Effect.fn.Return<never, Failed> {
  const parsed = Option.getOrUndefined(Result.getSuccess(body))
  const wait = yield* Wait.named(answered.response.headers, parsed)
  const retryAfter = Option.getOrElse(wait, () => Duration.zero)
  const error = Option.flatMap(Result.getSuccess(body), decodeErrorObject)
  const problem =
    unreadable ?? (Result.isFailure(body) ? `a body ${body.failure}` : "a body that is not an error of the service")
  return yield* Effect.fail<Failed>({
    wait,
    error: Option.isSome(error)
      ? yield* toError(answered, toDetails(error.value, answered), retryAfter)
      : undecodable(answered, problem, text, retryAfter)
  })
})

/** The failure of a body that is the operation's answer and breaks a rule of its schema. */
const malformed = (answered: Answered, text: string, issue: SchemaIssue.Issue): Failed => {
  const [first] = Input.fromSchemaIssue(issue)
  const place = first === undefined || first.path.length === 0 ? "" : ` at ${first.path.join(".")}`
  const problem = `a body that breaks a rule${place}: ${first?.message}`
  return withoutWait(unexpected(answered, problem, text))
}

/**
 * The Status in an answer, as far as it is of the Assembly that the operation is about. One without an id, which says
 * how it stands and contradicts nothing, is of that Assembly.
 */
const statusIn = (answered: Answered, body: unknown): Effect.Effect<unknown, Failed> => {
  const { assemblyId } = answered.subject
  if (answered.operation.answers !== "assemblyStatus" || assemblyId === undefined || !Predicate.isObject(body)) {
    return Effect.succeed(body)
  }
  if (Assembly.isOfAnother(body, assemblyId)) {
    // Nothing of it is repeated: the id of an Assembly is a capability.
    return Effect.fail(withoutWait(unexpected(answered, "the Status of another Assembly", "")))
  }
  const isWithoutId = body["assembly_id"] === undefined || body["assembly_id"] === null
  return Effect.succeed(isWithoutId && textOf(body, "ok") !== undefined ? { ...body, assembly_id: assemblyId } : body)
}

/**
 * The second half of an operation: answer → success or error. JSON is read whatever the content type says, since the
 * service may serve it as text/plain (spec.md, "Endpoints").
 */
export const decoder = (operation: Operation.Any, options: { readonly maxBytes: number }) => {
  const decodeSuccess = SchemaParser.decodeUnknownEffect(operation.success, { errors: "all" })

  const decode = (answered: Answered, read: AuthTransport.ErrorText): Effect.Effect<unknown, Failed> => {
    const { problem, text } = read
    const body = problem === undefined ? readJson(text) : Result.fail(problem)
    return Result.isSuccess(body) && isAnswer(operation, answered.response.status, body.success)
      ? Effect.flatMap(statusIn(answered, body.success), (value) =>
          Effect.mapError(decodeSuccess(value), (issue) => malformed(answered, text, issue))
        )
      : toFailed(answered, read, body)
  }

  return (response: HttpClientResponse.HttpClientResponse, asked: Asked): Effect.Effect<unknown, Failed> => {
    const answered: Answered = { ...asked, operation, response }
    if (AuthTransport.isRedirect(response.status)) {
      return Effect.fail(withoutWait(unexpected(answered, "a redirect, which is not followed", "")))
    }
    return Body.read(response, { ...options, ...asked.subject, secrets: asked.secrets }).pipe(
      Effect.mapError(withoutWait),
      Effect.flatMap((read) => decode(answered, read))
    )
  }
}
