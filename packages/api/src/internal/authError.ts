import type * as AuthError from "@assembly-effect/auth/AuthError"
import * as Option from "effect/Option"
import * as ApiError from "../ApiError.ts"
import type * as Exchange from "../unstable/Exchange.ts"
import * as Response from "./response.ts"

/**
 * Converts an error of the authentication to the error of the operation, whose request was not sent.
 */
export const toFailed = (subject: Exchange.Subject, error: AuthError.AuthError): Response.Failed => {
  const { code, message: description }: AuthError.AuthError & { readonly code?: string } = error
  const told = { ...subject, ...(code === undefined ? undefined : { code }), description, cause: error }
  switch (error._tag) {
    case "TokenRateLimited": {
      const { retryAfter, status } = error
      const refused = status === undefined ? told : { ...told, status }
      return { error: new ApiError.RateLimited({ ...refused, retryAfter }), wait: Option.some(retryAfter) }
    }
    case "TokenUnavailable":
      return {
        error: new ApiError.TransportFailure({ ...told, sent: "no", permanent: error.permanent }),
        wait: Option.fromUndefinedOr(error.retryAfter)
      }
    case "UnexpectedTokenResponse": {
      const { status } = error
      const about = { ...told, status, description: `no token, ${error.description}`, excerpt: "" }
      return Response.withoutWait(new ApiError.UnexpectedResponse(about))
    }
    default:
      return Response.withoutWait(new ApiError.AuthenticationFailed({ ...told, status: error.status }))
  }
}

/**
 * The refusal in a response, if the service did not accept the proof: an authentication code, or a 401 with any other
 * body except a rate limit or a named error.
 */
export const refusal = (error: Response.Failed["error"]): AuthError.Refusal | undefined =>
  error instanceof ApiError.AuthenticationFailed ||
  ((error instanceof ApiError.ServiceFailure || error instanceof ApiError.UnexpectedResponse) && error.status === 401)
    ? error
    : undefined
