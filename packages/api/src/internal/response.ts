/** Reads the response to an operation: its success, or one of its errors. */
import * as Redaction from "@assembly-effect/auth/Redaction"
import * as Outcome from "@assembly-effect/auth/unstable/Outcome"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as Json from "@assembly-effect/schema/unstable/Json"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as ApiError from "../ApiError.ts"
import type { Details } from "../unstable/ErrorDetails.ts"
import type * as Operation from "../unstable/Operation.ts"
import * as Exchange from "../unstable/Exchange.ts"

/** An error, and the pause that its response requested. */
export interface Failed {
  readonly error: InstanceType<Operation.NamedError> | ApiError.Common | ApiError.AuthenticationFailed
  readonly wait: Option.Option<Duration.Duration>
}

/** An error whose response requested no pause. The time until a permit counts like a requested pause. */
export const failed = (error: Failed["error"]): Failed => ({
  error,
  wait: error instanceof ApiError.RateLimited ? Option.some(error.retryAfter) : Option.none()
})

/**
 * The facts about the request that the decoder needs. `secrets` is called after a failure. `now` is the local time in
 * milliseconds since 1970.
 */
export interface Asked {
  readonly subject: Exchange.Subject
  readonly path: string
  readonly secrets: () => ReadonlyArray<string>
  readonly now: number
}

/** A response, and the facts about its request. */
interface Answered extends Asked {
  readonly operation: Operation.Any
  readonly response: Outcome.Gathered
}

const decodeErrorObject = Schema.decodeUnknownOption(ServiceError.ErrorObject)
const decodeAssemblyId = Schema.decodeUnknownOption(Assembly.AssemblyId)

const textOf = (body: unknown, key: string): string | undefined => {
  if (typeof body !== "object" || body === null) return undefined
  const value: unknown = (body as Readonly<Record<string, unknown>>)[key]
  return typeof value === "string" ? value : undefined
}

/** The code of an error object. An empty or null `error` counts as no code. */
const codeOf = (body: unknown): string | undefined => textOf(body, "error") || undefined

/** Whether a code says that the service refused the request. A Status never has such a code as its `error`. */
const isAboutRequest = (code: string): boolean =>
  ServiceError.rateLimitCodes.has(code) || ServiceError.authenticationCodes.has(code)

/**
 * Whether a body is a success of the operation. A 2xx response without an error code is a success. For an operation
 * that returns an Assembly Status, the Status of a failed Assembly is a success too, although it has an error code and
 * its response sometimes has a 4xx status.
 */
const isAnswer = (operation: Operation.Any, status: number, body: unknown): boolean => {
  const code = codeOf(body)
  if (code === undefined || operation.answers === "result") return Outcome.isSuccess(status) && code === undefined
  return status !== 429 && status < 500 && !isAboutRequest(code) && textOf(body, "assembly_id") !== undefined
}

/** The details of an error object. The texts are redacted, because they may repeat the request. */
const toDetails = (
  error: ServiceError.ErrorObject,
  { operation, response: { headers, status }, secrets: secretsOf, subject }: Answered
): Details => {
  const secrets = secretsOf()
  // A known code repeats nothing, even if a secret is a part of it.
  const isKnown = (code: string) => Object.hasOwn(operation.errors, code) || isAboutRequest(code)
  // The id in the request takes precedence, so that a later request with the id in the error cannot reach somebody
  // else's Assembly.
  const assemblyId = subject.assemblyId ?? Option.getOrUndefined(decodeAssemblyId(error.assembly_id))
  return {
    ...subject,
    ...Exchange.requestIdOf(headers, secrets),
    ...(error.error ? { code: isKnown(error.error) ? error.error : Redaction.code(error.error, secrets) } : undefined),
    status,
    description: Redaction.text(error.message ?? error.error ?? "", { secrets }),
    ...(error.reason === undefined ? undefined : { reason: Redaction.json(error.reason, { secrets }) }),
    ...(assemblyId === undefined ? undefined : { assemblyId })
  }
}

/** The error for an error code. The named errors of the operation take precedence. */
const toError = (
  { now, operation, path, response }: Answered,
  details: Details,
  wait: Failed["wait"]
): Failed["error"] => {
  // The service chooses the code. Without `hasOwn`, the code `toString` would find the method that every object has.
  const { code = "", description } = details
  const Named = Object.hasOwn(operation.errors, code) ? operation.errors[code] : undefined
  if (Named !== undefined) return new Named(details)
  if (details.status === 429 || ServiceError.rateLimitCodes.has(code)) {
    return new ApiError.RateLimited({ ...details, retryAfter: Option.getOrElse(wait, () => Duration.zero) })
  }
  if (operation.auth === "signed" && ServiceError.authenticationCodes.has(code)) {
    const skew = code === "AUTH_EXPIRED" ? Outcome.clockSkew(response.headers, now) : Option.none()
    return new ApiError.AuthenticationFailed(Option.isSome(skew) ? { ...details, clockSkew: skew.value } : details)
  }
  return new ApiError.ServiceFailure(
    code === "SERVER_404" && isBelowPath(operation, path)
      ? { ...details, description: `${description}; the path of the base URL is probably wrong` }
      : details
  )
}

/** Whether the base URL has a path, so that the path of the operation is not the whole path of the request. */
const isBelowPath = ({ path }: Operation.Any, sent: string): boolean => sent.split("/")[1] !== path.split("/")[1]

/**
 * The error of a response that is neither a success nor an error of the service. Its excerpt of the body is empty if the
 * response may contain secrets, because `secrets` lists only the secrets of the request.
 */
const unexpected = ({ operation, response, secrets: secretsOf, subject }: Answered, problem: string, text: string) => {
  const secrets = secretsOf()
  return new ApiError.UnexpectedResponse({
    ...subject,
    ...Exchange.requestIdOf(response.headers, secrets),
    status: response.status,
    // The path of a decode error can contain keys of the response, so `description` is redacted too.
    description: Redaction.text(problem, { secrets }),
    excerpt: operation.confidential === undefined ? Redaction.text(text, { secrets, max: 200 }) : ""
  })
}

/**
 * The failure of the operation after a response that is not a success. `body` is the parsed `text`. With the status 429,
 * the error is `RateLimited` for any body, because a proxy may have written it.
 */
const toFailed = (answered: Answered, text: string, body: Result.Result<unknown, string>): Failed => {
  const { headers, status } = answered.response
  const parsed = Option.getOrUndefined(Result.getSuccess(body))
  const wait = Outcome.wait(headers, parsed, answered.now)
  const found = Option.getOrUndefined(decodeErrorObject(parsed))
  if (found !== undefined || status === 429) {
    return { wait, error: toError(answered, toDetails(found ?? {}, answered), wait) }
  }
  const problem = Result.isFailure(body) ? body.failure : "a body that is not an error of the service"
  return { wait, error: unexpected(answered, problem, text) }
}

/** Parses a body as JSON, or describes why this is not possible. */
const readJson = (text: string): Result.Result<unknown, string> =>
  Result.mapError(Json.parse(text), (problem) => `a body ${problem === "not JSON" ? "that is not JSON" : problem}`)

/** What is wrong with the body of a success response that breaks a rule of the schema. */
const brokenRule = (issue: SchemaIssue.Issue): string => {
  const [first] = Input.fromSchemaIssue(issue)
  const place = first === undefined || first.path.length === 0 ? "" : ` at ${first.path.join(".")}`
  return `an invalid body${place}: ${first?.message}`
}

/** A Status without an id, but with an `ok` code, is accepted, and the id of the Assembly is added. */
const withId = (assemblyId: string | undefined, body: unknown): unknown => {
  if (assemblyId === undefined || !Predicate.isObject(body)) return body
  const isWithoutId = body["assembly_id"] === undefined || body["assembly_id"] === null
  return isWithoutId && textOf(body, "ok") !== undefined ? { ...body, assembly_id: assemblyId } : body
}

/** The Assembly id in a URL such as `https://api2.example.com/assemblies/0123…`; undefined for any other value. */
const idIn = (address: unknown): unknown =>
  typeof address === "string"
    ? /^[^?#]*\/assemblies\/([a-f0-9]{32})(?![a-z0-9])/i.exec(address)?.[1]?.toLowerCase()
    : undefined

/**
 * Whether the field `assembly_id` of a Status, the field `assemblyId` of older responses, or a URL of the Status names
 * another Assembly. False if the Status contains no Assembly id.
 */
const isOfAnother = (status: Readonly<Record<string, unknown>>, assemblyId: string): boolean =>
  [status["assembly_id"], status["assemblyId"], idIn(status["assembly_url"]), idIn(status["assembly_ssl_url"])].some(
    (id) => id !== undefined && id !== null && id !== assemblyId
  )

/**
 * Makes the function that decodes the response to an operation. The content type is ignored, because the service may
 * send JSON as text/plain (spec.md, "Endpoints"). If the body of an error response cannot be read, the status alone shows
 * that the operation has failed.
 */
export const decoder = (operation: Operation.Any, maxBytes: number) => {
  const decodeSuccess = SchemaParser.decodeUnknownResult(operation.success)
  const isStatus = operation.answers === "assemblyStatus"

  return (response: Outcome.Gathered, asked: Asked): Exit.Exit<unknown, Failed> => {
    const answered: Answered = { ...asked, operation, response }
    const { end, status } = response
    const refused = (problem: string, text: string) => Exit.fail(failed(unexpected(answered, problem, text)))

    if (Outcome.isRedirect(status)) return refused("redirects are not followed", "")
    if (Outcome.isSuccess(status) && typeof end !== "string")
      return Exit.fail(failed(Exchange.toFailure(asked.subject)(end)))
    const { description, text } = Outcome.textOf(response, maxBytes)
    const body = description === undefined ? readJson(text) : Result.fail(description)
    if (Result.isFailure(body) || !isAnswer(operation, status, body.success)) {
      return Exit.fail(toFailed(answered, text, body))
    }
    const { assemblyId } = asked.subject
    if (isStatus && assemblyId !== undefined && Predicate.isObject(body.success)) {
      // The error repeats no part of the body, because the id of an Assembly is a capability.
      if (isOfAnother(body.success, assemblyId)) return refused("the Status of another Assembly", "")
    }
    const decoded = decodeSuccess(isStatus ? withId(assemblyId, body.success) : body.success)
    return Result.isSuccess(decoded) ? Exit.succeed(decoded.success) : refused(brokenRule(decoded.failure), text)
  }
}
