import * as ServiceError from "@assembly-effect/schema/ServiceError"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaParser from "effect/SchemaParser"
import * as ApiError from "../ApiError.ts"
import type * as Operation from "../Operation.ts"
import * as Body from "./body.ts"

const decodeErrorObject = Schema.decodeUnknownOption(ServiceError.ErrorObject)

/** The wait that the body names in `info.retryIn`, in seconds. Beyond the specification. */
const decodeRetryIn = Schema.decodeUnknownOption(
  Schema.Struct({ info: Schema.Struct({ retryIn: Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)) }) })
)

const hasCode = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "error" in body && typeof body.error === "string"

const hasAssemblyId = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "assembly_id" in body && typeof body.assembly_id === "string"

const toDetails = (error: ServiceError.ErrorObject, status: number): ApiError.Details => ({
  code: error.error ?? "",
  status,
  message: error.message ?? error.error ?? "",
  ...(error.reason === undefined ? undefined : { reason: error.reason }),
  ...(error.assembly_id === undefined ? undefined : { assemblyId: error.assembly_id })
})

/** The error that a code stands for, first within the operation. */
const toError = (operation: Operation.Any, body: unknown, details: ApiError.Details) => {
  const Named = operation.errors[details.code]
  if (Named !== undefined) return new Named(details)
  if (details.status === 429 || ServiceError.rateLimitCodes.has(details.code)) {
    const retryAfter = Option.match(decodeRetryIn(body), {
      onNone: () => Duration.zero,
      onSome: ({ info }) => Duration.seconds(info.retryIn)
    })
    return new ApiError.RateLimited({ ...details, retryAfter })
  }
  if (operation.auth === "signed" && ServiceError.authenticationCodes.has(details.code)) {
    return new ApiError.AuthenticationFailed(details)
  }
  return new ApiError.ServiceFailure(details)
}

/**
 * The second half of an operation: answer → success or error. JSON is read whatever the content type says, since the
 * service may serve it as text/plain (spec.md, "Endpoints").
 */
export const decoder = (operation: Operation.Any, options: { readonly maxBytes: number }) => {
  const decodeSuccess = SchemaParser.decodeUnknownEffect(operation.success, { errors: "all" })

  return Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
    const text = yield* Body.readText(response, { operation: operation.name, ...options })
    const unexpected = (problem: string) =>
      new ApiError.UnexpectedResponse({
        operation: operation.name,
        status: response.status,
        problem,
        excerpt: Body.excerpt(text)
      })
    const body: unknown = yield* Effect.try({
      try: () => JSON.parse(text),
      catch: () => unexpected("a body that is not JSON")
    })

    const succeeded = response.status >= 200 && response.status < 300
    if (operation.answers === "assemblyStatus" ? hasAssemblyId(body) : succeeded && !hasCode(body)) {
      return yield* decodeSuccess(body).pipe(
        Effect.mapError((issue) => {
          const [first] = ApiError.fromSchemaIssue(issue)
          return unexpected(`a body that breaks a rule at ${first?.path.join(".")}: ${first?.message}`)
        })
      )
    }
    const error = decodeErrorObject(body)
    return yield* Option.isSome(error)
      ? Effect.fail(toError(operation, body, toDetails(error.value, response.status)))
      : Effect.fail(unexpected("a body that is not an error of the service"))
  })
}
