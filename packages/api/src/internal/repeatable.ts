import type { Failure } from "../RetryPolicy.ts"

/** Whether the failure proves that the service did nothing. */
export const didNothing = ({ _tag, sent }: Failure["error"]): boolean => _tag === "RateLimited" || sent === "no"

/**
 * Whether an operation may be repeated, or an upload may continue, after the failure. An operation that changes
 * something may be repeated only if the service did nothing, or after the error codes for which the service permits a
 * retry. No policy can change this rule.
 */
export const isRepeatable = ({ error, retry }: Pick<Failure, "error" | "retry">): boolean => {
  if (retry === "never") return false
  if (retry === "safe" || retry === "resumes" || didNothing(error)) return true
  return error.code !== undefined && retry.includes(error.code)
}
