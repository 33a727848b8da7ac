import * as AuthTransport from "@assembly-effect/auth/unstable/Transport"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as ApiError from "../ApiError.ts"
import * as Transport from "../unstable/Transport.ts"

const excerptBytes = 8 * 1024
const lenient = new TextDecoder()

/** `excerptOf`: makes the excerpt that an error may contain, from the beginning of a body. */
export interface Options {
  readonly maxBytes: number
  readonly excerptOf: (text: string) => string
}

/**
 * Reads the body of a success response. A body that is too large or not UTF-8 is an `UnexpectedResponse`, and a body
 * that is lost is a `TransportFailure`.
 */
const readSuccess = (
  response: HttpClientResponse.HttpClientResponse,
  subject: Transport.Subject,
  { excerptOf, maxBytes }: Options
): Effect.Effect<string, ApiError.UnexpectedResponse | ApiError.TransportFailure> =>
  Effect.mapError(AuthTransport.readText(response, { maxBytes }), (error) =>
    error._tag === "Lost"
      ? Transport.toFailure(subject)(error)
      : new ApiError.UnexpectedResponse({
          ...subject,
          status: response.status,
          problem: error.problem,
          excerpt: excerptOf(lenient.decode(error.start.subarray(0, excerptBytes)))
        })
  )

/**
 * Reads the body as strict UTF-8 text of at most `maxBytes`. If the body of an error response cannot be read, the
 * effect does not fail, because the status alone shows that the operation has failed; `problem` of the result says why
 * the body cannot be read.
 */
export const read = (
  response: HttpClientResponse.HttpClientResponse,
  subject: Transport.Subject,
  options: Options
): Effect.Effect<AuthTransport.ErrorText, ApiError.UnexpectedResponse | ApiError.TransportFailure> =>
  AuthTransport.isSuccess(response.status)
    ? Effect.map(readSuccess(response, subject, options), (text) => ({ text, problem: undefined }))
    : AuthTransport.readError(response, options)
