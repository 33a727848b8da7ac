/**
 * Secrets in responses and requests: redacted in the decoded value, and in no error, log and span.
 */
import { AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import { Authenticator } from "@assembly-effect/auth"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Logger, Redacted, References } from "effect"
import { FetchHttpClient } from "effect/http"
import { inspect } from "node:util"
import { beyond, secret } from "./utils/beyond.ts"
import { credentials } from "./utils/FakeService.ts"
import type { Case } from "./utils/operations.ts"
import * as Spans from "@assembly-effect/testkit/observed/Spans"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

const secretive = beyond.filter(({ success }) => JSON.stringify(success).includes(secret))

/** The operations whose request contains the secret. */
const sending = beyond.filter(({ name }) => /^TemplateCredentials\.(?:create|update)$/.test(name))

/** Everything that a value shows anywhere. */
const shown = (value: unknown): string =>
  [
    String(value),
    `${value}`,
    JSON.stringify(value, (_, part) => (typeof part === "bigint" ? String(part) : part)),
    inspect(value, { depth: Infinity, showHidden: true, getters: true }),
    ...Object.values(Object(value)).map(String)
  ].join("\n")

/** The redacted values in a value. */
const redactedIn = (value: unknown): ReadonlyArray<Redacted.Redacted<unknown>> => {
  if (Redacted.isRedacted(value)) return [value]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap((part) => redactedIn(part)) : []
}

/** Runs an effect with a real client. Returns its result, and all that was logged and traced. */
const observe = <A, E>(effect: Effect.Effect<A, E, AssemblyClient.AssemblyClient>, ...answers: Array<Server.Answer>) =>
  Effect.gen(function* () {
    const server = yield* Server.answering(...answers)
    const seen: Array<string> = []
    const note = Logger.make((entry) => {
      seen.push(Logger.formatLogFmt.log(entry), Logger.formatJson.log(entry), Logger.formatSimple.log(entry))
    })
    const { spans, tracer } = Spans.make()
    const client = AssemblyClient.layer({ baseUrl: server.baseUrl }).pipe(
      Layer.provide([
        Layer.provide(Authenticator.layerSigned(), credentials),
        FetchHttpClient.layer,
        RetryPolicy.layerNone
      ]),
      Layer.orDie
    )
    const result = yield* Effect.result(effect).pipe(
      Effect.tap((outcome) => Effect.annotateCurrentSpan("outcome", outcome)),
      Effect.withSpan("application"),
      Effect.provide([client, Logger.layer([note, Logger.tracerLogger])]),
      Effect.provideService(References.MinimumLogLevel, "All"),
      Effect.withTracer(tracer)
    )
    assert.isAtLeast(spans.length, 2)
    for (const { attributes, events, name } of spans) {
      for (const value of attributes.values()) seen.push(shown(value))
      seen.push(name, shown(events), inspect(attributes, { depth: Infinity }))
    }
    return { result, seen: seen.join("\n") }
  }).pipe(Effect.scoped)

const outcomeOf = (operation: Case, answer: Server.Answer) =>
  Effect.map(
    observe(
      operation.run.pipe(
        Effect.tap((value) => Effect.annotateLogs(Effect.log("answer", value), { value })),
        Effect.tapError((error) => Effect.annotateLogs(Effect.logError("failed", error), { error }))
      ),
      answer
    ),
    ({ result, seen }) => ({ value: result._tag === "Success" ? result.success : result.failure, result, seen })
  )

describe("the secret of a response", () => {
  test("8 operations have a secret in their response", () => {
    const ofKeys = ["list", "create", "update", "secret"].map((name) => `AuthKeys.${name}`)
    const ofCredentials = ["list", "get", "create", "update"].map((name) => `TemplateCredentials.${name}`)
    const names = secretive.map(({ name }) => name)
    assert.deepStrictEqual(names, [...ofKeys, ...ofCredentials])
  })

  for (const operation of secretive) {
    it.live(`${operation.name} returns its secret redacted, and shows it in no log and no span`, function* () {
      const { result, seen, value } = yield* outcomeOf(operation, Server.json(200, operation.success))
      assert.strictEqual(result._tag, "Success")
      assert.notInclude(shown(value), secret)
      assert.notInclude(seen, secret)
      assert.include(seen, "answer")
      const read = redactedIn(value).map((redacted) => JSON.stringify(Redacted.value(redacted)))
      assert.isAtLeast(read.length, 1)
      for (const text of read) assert.include(text, secret)
    })

    it.live(`${operation.name} shows its secret in no error of an undecodable response`, function* () {
      const body = JSON.stringify(operation.success)
      const answers: Readonly<Record<string, Server.Answer>> = {
        "another shape": Server.json(200, [operation.success]),
        "a field of another type": Server.json(200, { ...Object(operation.success), ok: 1, auth_secret: [secret] }),
        "truncated JSON": Server.text(200, body.slice(0, -1)),
        "a page": Server.text(502, `<html>${body}</html>`, { "content-type": "text/html" }),
        "an error that is no error object": Server.json(400, operation.success),
        "not UTF-8": Server.text(200, Buffer.concat([Buffer.from(body), Buffer.from([0xff])])),
        ...(operation === secretive[0] ? { "too large": Server.text(200, body + " ".repeat(40 * 1024 * 1024)) } : {})
      }
      for (const [name, answer] of Object.entries(answers)) {
        const { seen, value } = yield* outcomeOf(operation, answer)
        assert.deepInclude(value, { _tag: "UnexpectedResponse", excerpt: "" }, name)
        assert.notInclude(shown(value), secret, name)
        assert.notInclude(seen, secret, name)
      }
    })
  }
})

describe("the secret of a request", () => {
  for (const operation of sending) {
    it.live(`${operation.name} shows its secret in no error that repeats the request`, function* () {
      const echo: Server.Answer = (request, response) => {
        const message = new URLSearchParams(request.body).get("params") ?? ""
        assert.include(message, secret)
        response.writeHead(400).end(JSON.stringify({ error: "X", message, reason: { sent: [message, secret] } }))
      }
      const { seen, value } = yield* outcomeOf(operation, echo)
      assert.deepInclude(value, { _tag: "ServiceFailure", code: "X" })
      assert.notInclude(shown(value), secret)
      assert.notInclude(seen, secret)
    })
  }

  it.live("redacts a secret of 4 characters in an error, but not one of 3", function* () {
    const [short, word] = ["Zq7!", "the"]
    const content = Redacted.make({ deep: [{ short }], word })
    const create = TemplateCredentials.create({ name: "photos", type: "s3", content })
    const answer = Server.json(400, { error: "X", message: `the secret is ${short}` })
    const { result } = yield* observe(create, answer)
    assert(result._tag === "Failure")
    assert.notInclude(shown(result.failure), short)
    assert.include(result.failure.message, "the secret is")
  })
})
