/** The advice at the end of the message of `UploadGone`. */
export const goneAdvice = "; run the upload again to start a new upload"

interface Failure {
  readonly _tag: string
  readonly message: string
  readonly problem?: string
  readonly operation?: string
  readonly status?: number
}

/**
 * Describes an error as a part of the message of another error. The advice at the end of some messages is left out,
 * because the other error has its own advice.
 */
export const happened = ({ _tag, message, operation, problem, status }: Failure): string => {
  switch (_tag) {
    case "UploadMismatch":
    case "SourceFailed":
      return problem ?? message
    case "RateLimited":
      return `${operation}: too many requests, status ${status}`
    case "UploadGone":
      return message.endsWith(goneAdvice) ? message.slice(0, -goneAdvice.length) : message
    default:
      return message
  }
}
