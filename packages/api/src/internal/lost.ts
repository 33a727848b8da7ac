import * as AuthTransport from "@assembly-effect/auth/unstable/Transport"

/** What an error tells about the request: its tag, the status of an answer, and whether anything has left. */
interface Told {
  readonly _tag: string
  readonly status?: number
  readonly sent?: "no" | "maybe"
}

/**
 * Whether a failure leaves open what the service did: the request may have left, and either no answer came or one whose
 * status refuses nothing. The status decides, whatever the body says; a rate limit says that nothing was done.
 */
export const isLost = ({ _tag, sent, status }: Told): boolean => {
  switch (_tag) {
    case "InvalidRequest":
    case "RateLimited":
      return false
    case "TransportFailure":
      return sent !== "no"
    default:
      return status === undefined || !AuthTransport.isRefusal(status)
  }
}
