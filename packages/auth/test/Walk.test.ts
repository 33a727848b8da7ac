/**
 * The walk over everything that tests show (`scripts/walk`) detects leaks: each of these tests fails because of one.
 */
import { AuthError } from "@assembly-effect/auth"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Console, Effect, Logger, Redacted, type Tracer } from "effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { isExempt } from "../../../scripts/walk/exemptions.ts"

const secret = "q8/w7+e6r5t4y3u2i1"
Redacted.make(secret)

const assemblyId = "5e".repeat(16)
Redacted.make(`https://api.example.com/assemblies/${assemblyId}`)

const unicode = Array.from(secret, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
const entities = Array.from(secret, (unit, index) =>
  index % 2 === 0 ? `&#${unit.charCodeAt(0)};` : `&#x${unit.charCodeAt(0).toString(16)};`
).join("")

/** Runs a function with the current span. */
const inSpan = (change: (span: Tracer.Span) => void) => Effect.map(Effect.orDie(Effect.currentSpan), change)

/** A text that is shown before it is marked as a secret, and again after that. */
const learnt = Effect.suspend(() => {
  Redacted.make("early-1f2e3d")
  return Console.log("early-1f2e3d")
})

const span = (name: string, attributes: Record<string, unknown>) => Effect.withSpan(Effect.void, name, { attributes })
const refused = (description: string) => new AuthError.TokenUnavailable({ description })
const quiet = Logger.layer([Logger.make(() => undefined)])

const leaks: ReadonlyArray<readonly [name: string, effect: Effect.Effect<unknown>]> = [
  ["an attribute of a span", span("a", { url: "/resumable/files/u0" })],
  ["an encoded URL in a span", span("a", { url: "%2fresumable%2Ffiles%2fu0" })],
  ["the URL of a Status", span("a", { a: `\\/assemblies\\/${"0a".repeat(16)}` })],
  ["the name of a span", span("GET /resumable/files/u0", {})],
  ["an event of a span", inSpan((one) => one.event("a", 0n, { secret })).pipe(Effect.withSpan("a"))],
  [
    "a link of a span",
    inSpan((one) => one.addLinks([{ span: one, attributes: { secret } }])).pipe(Effect.withSpan("a"))
  ],
  ["the URL of a known Assembly in a span", span("a", { id: assemblyId })],
  ["the error of a span", Effect.exit(Effect.withSpan(Effect.die(new Error(secret)), "a"))],
  ["a typed error", Effect.flip(Effect.fail(refused(encodeURIComponent(secret))))],
  ["a defect that is a public error", Effect.exit(Effect.suspend(() => Effect.die(refused(secret))))],
  ["the cause of a log line that nobody prints", Effect.logDebug("a", Cause.die(new Error(secret)))],
  ["a log line for a logger of one's own", Effect.provide(Effect.log(secret), quiet)],
  ["a known value in a text that was clean before", Effect.andThen(Console.log("early-1f2e3d"), learnt)],
  ["a signature in a URL", Console.log("https://h/a?x-amz-signature=0123456789")],
  ["a token in a header", Console.log("authorization: Bearer abcdefghijklmnopqrst")],
  ["a secret in \\u escapes", Console.log(unicode)],
  ["a secret in entities", Console.log(entities)],
  ["a log line", Effect.log("a", { secret })],
  ["the annotation of a log line that nobody prints", Effect.annotateLogs(Effect.logDebug("a"), { secret })],
  ["a signature in a line of a console", Console.log(`sha384:${"0a".repeat(48)}`)],
  ["a line of the platform's console", Effect.sync(() => console.error(JSON.stringify({ secret })))]
]

describe("The walk", () => {
  for (const [name, effect] of leaks) it.effect.fails(`fails a test that shows ${name}`, () => effect)

  it.effect("passes a test that shows only <redacted>", () =>
    Effect.exit(
      Effect.withSpan(Effect.die(new Error("no")), "a", { attributes: { url: "/resumable/files/<redacted>" } })
    )
  )
})

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

describe("A file whose tests are over", () => {
  it("a test file fails if it shows a capability after its last test", async () => {
    const args = ["run", "--config", pathOf("fixtures/late.config.ts")]
    const vitest = pathOf("../../../node_modules/vitest/vitest.mjs")
    const [code, output] = await new Promise<readonly [code: unknown, output: string]>((resolve) => {
      execFile(process.execPath, [vitest, ...args], { env: { NO_COLOR: "1" } }, (error, stdout, stderr) =>
        resolve([error?.code, stdout + stderr])
      )
    })
    assert.strictEqual(code, 1)
    assert.match(output, /1 of what must not be shown.*\n- upload URL \(u0…\) in a console/)
    assert.match(output, /Tests +1 passed/)
  })
})

describe("An exemption", () => {
  const part = { surface: "span", kind: "upload URL" } as const
  const shown = { ...part, file: "/a/packages/auth/test/A.test.ts", test: "group > shows it", text: "client GET /a" }
  const exemption = {
    file: "/auth/test/A.test.ts",
    test: "group > shows",
    surface: "span",
    text: /^client GET /,
    kinds: ["upload URL"],
    why: "A test of exemptions."
  } as const

  it("applies if all its parts match, and not to another file, test, surface, text or kind", () => {
    assert.isTrue(isExempt(shown, [exemption]))
    const { test: _test, text: _text, ...everywhere } = exemption
    assert.isTrue(isExempt({ ...shown, test: "other", text: "other" }, [everywhere]))
    for (const change of [
      { file: "/a/packages/auth/test/B.test.ts" },
      { test: "other group > shows it" },
      { surface: "log" },
      { text: "internal GET /a" },
      { kind: "signature" }
    ] as const) {
      assert.isFalse(isExempt({ ...shown, ...change }, [exemption]))
    }
  })
})
