import * as Redaction from "@assembly-effect/auth/Redaction"
import * as AuthTransport from "@assembly-effect/auth/unstable/Transport"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as ApiError from "../ApiError.ts"
import * as Transport from "../unstable/Transport.ts"

const excerptBytes = 8 * 1024
const lenient = new TextDecoder()

export interface Options extends Transport.Subject {
  readonly maxBytes: number
  readonly secrets: ReadonlyArray<string>
}

/** A success whose body is too large, not UTF-8 or lost is an unexpected response. */
const readSuccess = (
  response: HttpClientResponse.HttpClientResponse,
  options: Options
): Effect.Effect<string, ApiError.UnexpectedResponse | ApiError.TransportFailure> => {
  const { maxBytes, secrets, ...subject } = options
  return Effect.mapError(AuthTransport.readText(response, { maxBytes }), (error) =>
    error._tag === "Lost"
      ? Transport.toFailure(subject)(error)
      : new ApiError.UnexpectedResponse({
          ...subject,
          status: response.status,
          problem: error.problem,
          excerpt: Redaction.excerpt(lenient.decode(error.start.subarray(0, excerptBytes)), secrets)
        })
  )
}

/**
 * Reads the body as strict UTF-8 text of at most `maxBytes`. The status of an error takes precedence over its body: if
 * the body cannot be read, `problem` says why.
 */
export const read = (
  response: HttpClientResponse.HttpClientResponse,
  options: Options
): Effect.Effect<AuthTransport.ErrorText, ApiError.UnexpectedResponse | ApiError.TransportFailure> =>
  AuthTransport.isSuccess(response.status)
    ? Effect.map(readSuccess(response, options), (text) => ({ text, problem: undefined }))
    : AuthTransport.readError(response, options)
