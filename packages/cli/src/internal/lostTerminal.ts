/**
 * The defect of a prompt or a wizard whose terminal cannot be written, for example because its reader has ended.
 * `launch.ts` reports a standard output that cannot be written, so this defect needs no report of its own.
 */
import * as Cause from "effect/Cause"
import * as PlatformError from "effect/PlatformError"

const isOfTerminal = (defect: unknown): boolean =>
  PlatformError.isPlatformError(defect) && "module" in defect.reason && defect.reason.module === "Terminal"

/** Whether a cause without a failure has such a defect. Its input may have ended at the same time (`QuitError`). */
export const is = <E>(cause: Cause.Cause<E>): boolean =>
  !cause.reasons.some(Cause.isFailReason) &&
  cause.reasons.some((reason) => Cause.isDieReason(reason) && isOfTerminal(reason.defect))
