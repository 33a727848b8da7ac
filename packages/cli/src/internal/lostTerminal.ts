/**
 * The defect of a prompt or a wizard whose terminal cannot be written, for example because its reader has ended.
 * `launch.ts` reports a standard output that cannot be written, so this defect needs no report of its own.
 */
import * as Cause from "effect/Cause"
import * as PlatformError from "effect/PlatformError"

/** Whether the cause is such a defect. */
export const is = <E>(cause: Cause.Cause<E>): boolean => {
  if (cause.reasons.some(Cause.isFailReason)) return false
  const defect = Cause.squash(cause)
  return PlatformError.isPlatformError(defect) && "module" in defect.reason && defect.reason.module === "Terminal"
}
