/** What a person can do about an upload that is gone; the end of the message of `UploadGone`. */
export const goneAdvice = "; run the upload again to begin another one"

interface Failure {
  readonly _tag: string
  readonly message: string
  readonly problem?: string
  readonly operation?: string
  readonly status?: number
}

/**
 * What happened, as a part of the text of another error: without the advice that ends the messages of some errors, since
 * the other error has its own.
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
