import * as Outcome from "@assembly-effect/auth/unstable/Outcome"

/**
 * Whether a failure leaves open what the service did: the request may have been sent, and there was either no response
 * or a response whose status does not prove a refusal. A rate limit proves that the service did nothing. For any other
 * response, only the HTTP status decides, whatever the body says.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isLost = ({
  _tag,
  sent,
  status
}: {
  readonly _tag: string
  readonly status?: number
  readonly sent?: "no" | "maybe"
}): boolean => {
  switch (_tag) {
    case "InvalidRequest":
    case "RateLimited":
      return false
    case "TransportFailure":
      return sent !== "no"
    default:
      return status === undefined || !Outcome.isRefusal(status)
  }
}
