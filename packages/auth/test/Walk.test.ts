/**
 * The walk over everything that tests show (`scripts/walk`) sees a leak: each of these tests fails because of it.
 */
import * as AuthError from "@assembly-effect/auth/AuthError"
import { describe, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const secret = "q8/w7+e6r5t4y3u2i1"
Redacted.make(secret)

const leaks: ReadonlyArray<readonly [name: string, effect: Effect.Effect<unknown>]> = [
  ["an attribute of a span", Effect.withSpan(Effect.void, "a", { attributes: { url: "/resumable/files/u0" } })],
  ["an encoded URL in a span", Effect.withSpan(Effect.void, "a", { attributes: { url: "%2fresumable%2Ffiles%2fu0" } })],
  [
    "the URL of a Status",
    Effect.withSpan(Effect.void, "a", { attributes: { a: `\\/assemblies\\/${"0a".repeat(16)}` } })
  ],
  ["the error of a span", Effect.exit(Effect.withSpan(Effect.die(new Error(secret)), "a"))],
  ["a typed error", Effect.flip(Effect.fail(new AuthError.TokenUnavailable({ problem: encodeURIComponent(secret) })))],
  ["a log line", Effect.log("a", { secret })],
  ["the annotation of a log line that nobody prints", Effect.annotateLogs(Effect.logDebug("a"), { secret })],
  ["a signature in a line of a console", Console.log(`sha384:${"0a".repeat(48)}`)],
  ["a line of the platform's console", Effect.sync(() => console.error(JSON.stringify({ secret })))]
]

describe("The walk", () => {
  for (const [name, effect] of leaks) it.effect.fails(`sees ${name}`, () => effect)

  it.effect("sees nothing where nothing is shown", () =>
    Effect.exit(
      Effect.withSpan(Effect.die(new Error("no")), "a", { attributes: { url: "/resumable/files/<redacted>" } })
    )
  )
})
