/** Why the operating system refused an access to a file. */
import type * as PlatformError from "effect/PlatformError"
import * as Predicate from "effect/Predicate"

const reasons: ReadonlyMap<unknown, "Full" | "Denied" | "NotFound" | "NotAFile"> = new Map([
  ["ENOSPC", "Full"],
  ["EDQUOT", "Full"],
  ["EACCES", "Denied"],
  ["EPERM", "Denied"],
  ["EROFS", "Denied"],
  ["ENOENT", "NotFound"],
  ["ENOTDIR", "NotFound"],
  ["EISDIR", "NotAFile"]
] as const)

/**
 * The reason of a failure, and its description with the error code of the operating system, such as ENOSPC, which the
 * message of a `PlatformError` does not contain.
 *
 * @since 0.1.0
 * @category utilities
 */
export const refusal = ({ message, reason }: PlatformError.PlatformError) => {
  const cause = "cause" in reason ? reason.cause : undefined
  const code: unknown = Predicate.hasProperty(cause, "code") ? cause.code : undefined
  return {
    reason: reasons.get(code) ?? ("Other" as const),
    description: typeof code === "string" ? `${message} (${code})` : message
  }
}
