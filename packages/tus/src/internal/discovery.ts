/**
 * Asks the server for its extensions, its maximum size and its checksum algorithms (tus 1.0.0, OPTIONS).
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as Redacted from "effect/Redacted"
import * as Tus from "../Tus.ts"
import * as TusError from "../TusError.ts"
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
 * For each HTTP client, the URL of the last server that offered concatenation, and the time of the offer. Each client
 * has its own entry, because another client may reach another server at the same URL.
 */
const offers = new WeakMap<HttpClient.HttpClient, { readonly url: string; readonly at: number }>()

/**
 * How long an offer counts, in milliseconds. This time is short, because a server that does not support concatenation
 * may replace this server.
 */
const lifetime = 300_000

/**
 * Fails if the server's list of extensions does not contain concatenation. A server without such a list may still
 * support concatenation. Only an offer is remembered, so a server that does not offer concatenation is asked before
 * each new upload in parts.
 */
export const checkConcatenation = (asked: Asked) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const now = yield* Clock.currentTimeMillis
    const url = Redacted.value(asked.target.tusUrl)
    const last = offers.get(client)
    if (last?.url === url && now - last.at < lifetime) return
    // A failure of this request is ignored, because the final upload is checked in any case.
    const { extensions } = yield* guess(asked)
    if (extensions.includes("concatenation")) {
      offers.set(client, { url, at: now })
    } else if (extensions.length > 0) {
      return yield* new TusError.ExtensionMissing({
        host: hostOf(url),
        option: "parallel",
        extension: "concatenation",
        offered: extensions
      })
    }
  })
