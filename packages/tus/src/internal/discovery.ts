/**
 * What the server supports (tus 1.0.0, OPTIONS).
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
export const discover = ({ policy, target }: Asked) =>
  inTime({ request: "discover", url: target.tusUrl }, policy.stallTimeout, Tus.discover(target))

/**
 * When each server last offered concatenation, by the URL of its creations. Another client may reach another server at
 * the same URL, so each client has its own map.
 */
const offers = new WeakMap<HttpClient.HttpClient, Map<string, number>>()

/** How long an offer counts, in milliseconds. It is short, because a server may be replaced by another version. */
const lifetime = 300_000

/** The maximum number of servers in the map of a client. */
const most = 16

/**
 * Fails if the server's list of extensions does not contain concatenation. A server without such a list may still
 * support concatenation. Only an offer is remembered, so every other server is asked again for each upload.
 */
export const checkConcatenation = ({ policy, target }: Asked) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const now = yield* Clock.currentTimeMillis
    const url = Redacted.value(target.tusUrl)
    const offered = offers.get(client) ?? new Map<string, number>()
    offers.set(client, offered)
    if (now - (offered.get(url) ?? -Infinity) < lifetime) return
    const extensions = yield* discover({ policy, target }).pipe(
      Effect.map((found) => found.extensions),
      // If the request for the extensions fails, the failure is ignored, because the final upload is checked in any
      // case.
      Effect.orElseSucceed((): ReadonlyArray<string> => [])
    )
    if (extensions.includes("concatenation")) {
      if (offered.size >= most) offered.clear()
      offered.set(url, now)
    } else if (extensions.length > 0) {
      return yield* new TusError.ExtensionMissing({
        host: hostOf(target.tusUrl),
        option: "parallel",
        extension: "concatenation",
        offered: extensions
      })
    }
  })
