import type * as AuthError from "@assembly-effect/auth/AuthError"
import * as Option from "effect/Option"
import * as ApiError from "../ApiError.ts"
import type * as Transport from "../unstable/Transport.ts"
import * as Response from "./response.ts"

const statusOf = ({ status }: AuthError.TokenRateLimited) => (status === undefined ? undefined : { status })

const codeOf = ({ code }: { readonly code?: string }) => (code === undefined ? undefined : { code })

const toDetails = (
  error: Exclude<AuthError.AuthError, AuthError.TokenUnavailable | AuthError.UnexpectedTokenResponse>,
  subject: Transport.Subject
) => ({
  ...subject,
  ...codeOf(error),
  description: error.message,
  cause: error
})

/**
 * Converts an error of the authentication to the error of the operation, whose request was not sent.
 */
export const toFailed = (subject: Transport.Subject, error: AuthError.AuthError): Response.Failed => {
  switch (error._tag) {
    case "TokenRateLimited":
      return {
        error: new ApiError.RateLimited({
          ...toDetails(error, subject),
          ...statusOf(error),
          retryAfter: error.retryAfter
        }),
        wait: Option.some(error.retryAfter)
      }
    case "TokenUnavailable":
      return {
        error: new ApiError.TransportFailure({
          ...subject,
          description: error.message,
          sent: "no",
          permanent: error.permanent,
          cause: error,
          ...codeOf(error)
        }),
        wait: Option.fromUndefinedOr(error.retryAfter)
      }
    case "UnexpectedTokenResponse":
      return Response.withoutWait(
        new ApiError.UnexpectedResponse({
          ...subject,
          status: error.status,
          description: `no token, ${error.description}`,
          excerpt: "",
          cause: error
        })
      )
    default:
      return Response.withoutWait(
        new ApiError.AuthenticationFailed({ ...toDetails(error, subject), status: error.status })
      )
  }
}

/**
 * The refusal in a response, if the service did not accept the proof: an authentication code, or a 401 with any other
 * body except a rate limit or a named error.
 */
export const refusal = (error: Response.Failed["error"]): AuthError.Refusal | undefined => {
  if (error instanceof ApiError.AuthenticationFailed) return { ...codeOf(error), status: error.status }
  if (error instanceof ApiError.ServiceFailure && error.status === 401) return { ...codeOf(error), status: 401 }
  return error instanceof ApiError.UnexpectedResponse && error.status === 401 ? { status: 401 } : undefined
}
