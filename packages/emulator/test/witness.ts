/**
 * Collects all texts that a program may print, log or trace, and checks that no secret is in these texts.
 */
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import { assert } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import * as TestConsole from "effect/testing/TestConsole"
import * as Tracer from "effect/Tracer"
import type { ServerResponse } from "node:http"
import { inspect } from "node:util"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Spans from "@assembly-effect/testkit/observed/Spans"

const stringify = (value: unknown): string => {
  try {
    return JSON.stringify(value) ?? ""
  } catch {
    // The value is circular or contains a bigint, so it has no JSON text.
    return ""
  }
}

/** All texts that a program may print for a value. */
const renderings = (value: unknown): ReadonlyArray<string> => [
  String(value),
  stringify(value),
  inspect(value, { depth: Infinity, showHidden: true }),
  ...(value instanceof Error ? [value.message, value.stack ?? "", Cause.pretty(Cause.fail(value))] : [])
]

/** All texts that a span exports. */
const renderSpan = ({ attributes, events, name, status }: Tracer.NativeSpan): ReadonlyArray<string> => {
  const texts = [name, ...renderings(Object.fromEntries(attributes)), ...renderings(events)]
  if (status._tag !== "Ended") return texts
  const { exit } = status
  return texts.concat(renderings(exit), Exit.isFailure(exit) ? [Cause.pretty(exit.cause)] : [])
}

/** Makes a witness, which collects texts and knows the secrets that must not be in these texts. */
export const make = ({ key, secret }: { readonly key: string; readonly secret: string }) => {
  const seen: Array<string> = []
  const forbidden = new Set([secret, Buffer.from(`${key}:${secret}`).toString("base64")])
  const { spans, tracer } = Spans.make()

  const logger = (format: Logger.Logger<unknown, unknown>) =>
    Logger.map(
      format,
      (output) => void seen.push(typeof output === "string" ? output : inspect(output, { depth: Infinity }))
    )

  const observe = Layer.mergeAll(
    Logger.layer([
      logger(Logger.formatSimple),
      logger(Logger.formatLogFmt),
      logger(Logger.formatJson),
      logger(Logger.formatStructured),
      Logger.consolePretty({ colors: false, mode: "tty" }),
      Logger.tracerLogger
    ]),
    Layer.succeed(References.MinimumLogLevel, "All"),
    Layer.succeed(Tracer.Tracer, tracer)
  )

  return {
    observe,
    spans,
    /** Prints a value, logs the value, and adds the value to a span. */
    look: Effect.fnUntraced(function* (value: unknown) {
      seen.push(...renderings(value))
      yield* Effect.logError("seen", value)
      yield* Effect.annotateCurrentSpan("seen", value)
    }, Effect.withSpan("look")),
    /** Adds the signature or the token of a proof to the secrets. */
    protect: (proof: Authenticator.Proof) => {
      const text = Redacted.value(proof._tag === "Signature" ? proof.signature : proof.token)
      forbidden.add(proof._tag === "Signature" ? text.slice(text.indexOf(":") + 1) : text)
    },
    protectToken: (token: string) => forbidden.add(token),
    check: Effect.gen(function* () {
      const traced = spans.flatMap(renderSpan)
      const printed = [...(yield* TestConsole.logLines), ...(yield* TestConsole.errorLines)].map(String)
      assert.isNotEmpty(traced)
      assert.isNotEmpty(printed)
      const everything = [...seen, ...traced, ...printed].join("\n")
      for (const text of forbidden) {
        assert.notInclude(everything, text)
        assert.notInclude(everything, encodeURIComponent(text))
      }
      return forbidden.size
    })
  }
}

export type Witness = ReturnType<typeof make>

/** The Authenticator of the context. The witness protects each proof of this Authenticator. */
export const watched = (witness: Witness) =>
  Layer.effect(
    Authenticator.Authenticator,
    Effect.map(Authenticator.Authenticator, (authenticator) => ({
      ...authenticator,
      authenticate: (request) =>
        Effect.tap(authenticator.authenticate(request), (proof) => Effect.sync(() => witness.protect(proof)))
    }))
  )

/** A server that gives each request as text to `answer`, which repeats the request in the response. */
export const echo = (answer: (sent: string, response: ServerResponse, url: string) => void) =>
  Loopback.serve(async (request, response) => {
    let body = ""
    for await (const chunk of request) body += String(chunk)
    answer(
      `${decodeURIComponent(request.url ?? "")} ${JSON.stringify(request.headers)} ${body}`,
      response,
      request.url ?? ""
    )
  })
