import * as Redaction from "@assembly-effect/auth/Redaction"
import * as AuthTransport from "@assembly-effect/auth/unstable/Transport"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as ApiError from "../ApiError.ts"
import * as Transport from "../unstable/Transport.ts"

const excerptBytes = 8 * 1024
const lenient = new TextDecoder()

/** `isConfidential`: whether the body may contain secrets, so that an error repeats nothing of it. */
export interface Options {
  readonly maxBytes: number
  readonly secrets: ReadonlyArray<string>
  readonly isConfidential: boolean
}

/** A success whose body is too large, not UTF-8 or lost is an unexpected response. */
const readSuccess = (
  response: HttpClientResponse.HttpClientResponse,
  subject: Transport.Subject,
  { isConfidential, maxBytes, secrets }: Options
): Effect.Effect<string, ApiError.UnexpectedResponse | ApiError.TransportFailure> => {
  const excerptOf = (start: Uint8Array) =>
    isConfidential ? "" : Redaction.excerpt(lenient.decode(start.subarray(0, excerptBytes)), secrets)
  return Effect.mapError(AuthTransport.readText(response, { maxBytes }), (error) =>
    error._tag === "Lost"
      ? Transport.toFailure(subject)(error)
      : new ApiError.UnexpectedResponse({
          ...subject,
          status: response.status,
          problem: error.problem,
          excerpt: excerptOf(error.start)
        })
  )
}

/**
 * Reads the body as strict UTF-8 text of at most `maxBytes`. The status of an error takes precedence over its body: if
 * the body cannot be read, `problem` says why.
 */
export const read = (
  response: HttpClientResponse.HttpClientResponse,
  subject: Transport.Subject,
  options: Options
): Effect.Effect<AuthTransport.ErrorText, ApiError.UnexpectedResponse | ApiError.TransportFailure> =>
  AuthTransport.isSuccess(response.status)
    ? Effect.map(readSuccess(response, subject, options), (text) => ({ text, problem: undefined }))
    : AuthTransport.readError(response, options)
