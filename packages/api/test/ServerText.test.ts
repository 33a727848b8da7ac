/**
 * Text of a server in the errors of operations: without the proof of the request, without capabilities, limited and
 * printable.
 */
import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import { Authenticator } from "@assembly-effect/auth"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { inspect } from "node:util"
import { assemblyId } from "./utils/operations.ts"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

const token = "Xk9/fQ2+vB7/mN4.pL8_rT5-wZ3=".repeat(4)

const clientAt = (server: Server.HostileServer) =>
  AssemblyClient.layer({ baseUrl: server.baseUrl }).pipe(
    Layer.provide([Authenticator.layerBearer(Redacted.make(token)), FetchHttpClient.layer, RetryPolicy.layerNone]),
    Layer.orDie
  )

const list = Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })

/** The error of an operation that got this response. */
const failure = <A, E>(
  operation: Effect.Effect<A, E, AssemblyClient.AssemblyClient>,
  ...answers: Array<Server.Answer>
) =>
  Effect.gen(function* () {
    const server = yield* Server.answering(...answers)
    return yield* Effect.flip(Effect.provide(operation, clientAt(server)))
  })

/** Everything that an error shows anywhere. */
const shown = (error: object) => `${String(error)} ${JSON.stringify(error)} ${inspect(error, { depth: Infinity })}`

const slashed = token.replaceAll("/", "\\/")
const unicode = Array.from(
  token,
  (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}`
).join("")

describe("The token of a request that an error repeats", () => {
  it.effect.each([
    ["in a long message", JSON.stringify({ error: "NO", message: "-".repeat(901) + token })],
    ["with escaped slashes, in no JSON", `<html>${slashed}</html>`],
    ["in \\u escapes, in no JSON", `<html>${unicode}</html>`],
    ["as its code", JSON.stringify({ error: token })],
    ["in its reason", JSON.stringify({ error: "NO", reason: { [token]: [slashed] } })],
    ["as the id of the Assembly", JSON.stringify({ error: "NO", assembly_id: token })],
    ["in half", `{"error":"NO","message":"${token.slice(0, 50)}`]
  ] as const)("is not in the error if the body repeats it %s", function* ([, body]) {
    for (const status of [400, 401, 429, 500]) {
      const text = shown(yield* failure(list, Server.text(status, body)))
      for (const part of ["Xk9", "fQ2", "mN4", unicode.slice(0, 12)]) assert.notInclude(text, part)
    }
  })
})

describe("The token of a request that a success repeats", () => {
  const bytes =
    (...parts: ReadonlyArray<string | Uint8Array>): Server.Answer =>
    (_, response) =>
      void response.end(Buffer.concat(parts.map((part) => Buffer.from(part))))

  it.effect.each([
    [
      "as a key that breaks a rule",
      Server.text(
        200,
        `{"count":1,"items":[{"id":"${assemblyId}","created":"2026/01/01 10:00:00 GMT","${token}":1e999}]}`
      ),
      "an invalid body at items.0.<redacted>"
    ],
    ["in a body over the limit", bytes(token, " ".repeat(33 * 1024 * 1024)), "a body of more than 33554432 bytes"],
    ["in a body that is no text", bytes(token, new Uint8Array([0xff])), "a body that is not UTF-8"]
  ] as const)("is not in the error if the body repeats it %s", function* ([, answer, problem]) {
    const error = yield* failure(list, answer)
    assert(error._tag === "UnexpectedResponse")
    assert.include(error.description, problem)
    assert.include(error.excerpt, "<redacted>")
    for (const part of ["Xk9", "fQ2", "mN4"]) assert.notInclude(shown(error), part)
  })
})

describe("A capability in a response", () => {
  const url = `https://api2-x.example.com/assemblies/${assemblyId}`

  it.effect("redacts a capability in the excerpt of a malformed Status", function* () {
    const body = JSON.stringify({ assembly_ssl_url: url, assembly_id: assemblyId, ok: 1 })
    const error = yield* failure(Assemblies.get(assemblyId), Server.text(200, body.replaceAll("/", "\\/")))
    assert(error._tag === "UnexpectedResponse")
    assert.include(error.excerpt, '{"assembly_ssl_url":"<redacted>"')
    // The id from the caller.
    assert.strictEqual(error.assemblyId, assemblyId)
    assert.notInclude(error.excerpt + error.message, assemblyId)
  })

  it.effect("redacts capabilities in the description of AssemblyFailed", function* () {
    const status = {
      assembly_id: assemblyId,
      error: "IMPORT_FAILED",
      message: `cannot read https://s3.example.com/a?X-Amz-Signature=abc for ${url}, or http:\\/\\/h\\/resumable\\/files\\/u0`
    }
    const error = yield* failure(Assemblies.awaitCompletion(assemblyId), Server.json(200, status))
    assert(error._tag === "AssemblyFailed")
    assert.deepInclude(error, {
      code: "IMPORT_FAILED",
      description:
        "cannot read https://s3.example.com/a?<redacted> for https://api2-x.example.com/assemblies/<redacted> or <redacted>"
    })
  })

  it.effect("redacts a capability in the code of AssemblyFailed", function* () {
    const status = { assembly_id: assemblyId, error: "http://h/resumable/files/u0" }
    const error = yield* failure(Assemblies.awaitCompletion(assemblyId), Server.json(200, status))
    assert(error._tag === "AssemblyFailed")
    assert.strictEqual(error.code, "http://h/resumable/files/<redacted>")
    assert.include(error.message, "failed with http://h/resumable/files/<redacted>")
  })

  it.effect("limits code, description and reason of an error, and escapes control characters", function* () {
    const message = `no\u001b[2J\u202e\n${"x".repeat(100_000)}`
    const error = yield* failure(
      list,
      Server.json(400, { error: `E\u009b${"x".repeat(1000)}`, message, reason: message })
    )
    assert(error._tag === "ServiceFailure")
    assert.match(error.description, /^no\\x1b\[2J\\u202e x{960,}…$/)
    assert.isAtMost(error.description.length, 1001)
    assert.match(error.code ?? "", /^E\\x9bx{90,}…$/)
    assert.isAtMost(String(error.reason).length, 1001)
  })
})
