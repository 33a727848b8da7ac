interface Failure {
  readonly _tag: string
  readonly message: string
  readonly description?: string
  readonly operation?: string
  readonly request?: string
  readonly host?: string | undefined
  readonly status?: number
}

/**
 * Describes an error as a part of the message of another error. The advice at the end of some messages is left out,
 * because the other error has its own advice.
 */
export const happened = ({ _tag, description, host, message, operation, request, status }: Failure): string => {
  switch (_tag) {
    case "UploadMismatch":
    case "SourceFailed":
      return description ?? message
    case "RateLimited":
      return `${operation}: too many requests, status ${status}`
    case "UploadGone":
      return `${request} at ${host}: ${description}`
    default:
      return message
  }
}
