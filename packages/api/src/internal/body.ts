import * as AuthTransport from "@assembly-effect/auth/Transport"
import * as Effect from "effect/Effect"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as ApiError from "../ApiError.ts"
import * as Transport from "../Transport.ts"
import * as Redact from "./redact.ts"

const excerptBytes = 8 * 1024
const lenient = new TextDecoder()

export interface Options extends Transport.Subject {
  readonly maxBytes: number
  readonly secrets: ReadonlyArray<string>
}

/**
 * The body as text: at most `maxBytes`, and strict UTF-8.
 */
export const readText = (
  response: HttpClientResponse.HttpClientResponse,
  options: Options
): Effect.Effect<string, ApiError.UnexpectedResponse | ApiError.TransportFailure> => {
  const { maxBytes, secrets, ...subject } = options
  return Effect.mapError(AuthTransport.readText(response, { maxBytes }), (error) =>
    error._tag === "HttpClientError"
      ? Transport.toFailure(subject)(error)
      : new ApiError.UnexpectedResponse({
          ...subject,
          status: response.status,
          problem: error.problem,
          excerpt: Redact.excerpt(lenient.decode(error.start.subarray(0, excerptBytes)), secrets)
        })
  )
}
