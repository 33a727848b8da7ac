/**
 * Asks the server for its extensions, its maximum size and its checksum algorithms (tus 1.0.0, OPTIONS).
 */
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import * as Tus from "../Tus.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import { hostOf } from "./host.ts"
import type { Policy } from "./policy.ts"
import { inTime } from "./timeout.ts"

/** A target, and the policy that limits the duration of the request. */
interface Asked {
  readonly target: UploadTarget
  readonly policy: Policy
}

/** Requests the capabilities of the server. */
export const discover = ({ policy, target }: Asked) => inTime(policy.stallTimeout, Tus.discover(target))

/** Requests the capabilities of the server. After a failure, the result has no extensions and no maximum size. */
export const guess = (asked: Asked) =>
  Effect.orElseSucceed(discover(asked), () => ({ extensions: [] as ReadonlyArray<string>, maxSize: undefined }))

/**
 * Fails if the server's list of extensions does not contain concatenation. A server without such a list may still
 * support concatenation. A failure of this request is ignored, because the final upload is checked in any case.
 */
export const checkConcatenation = (asked: Asked) =>
  Effect.gen(function* () {
    const { extensions } = yield* guess(asked)
    if (extensions.length === 0 || extensions.includes("concatenation")) return
    const host = hostOf(asked.target.tusUrl)
    const message = `Expected 1: the server ${host} does not support concatenation, only ${extensions.join(", ")}`
    return yield* new InvalidRequest({ operation: "Upload", issues: [{ path: ["parallel"], message }] })
  })
