import { Authenticator } from "@assembly-effect/auth"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { Effect, Exit, Formatter, Layer, Option } from "effect"
import type { HttpClient } from "effect/http/HttpClient"
import { sample } from "./utils/generated.ts"
import { AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import * as Testing from "@assembly-effect/api/testing"
import { senders } from "./utils/clients.ts"
import { credentials } from "./utils/FakeService.ts"
import type { AnyError, Case } from "./utils/operations.ts"
import { assemblyId, cases, examples, operations } from "./utils/operations.ts"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

const authenticated = Authenticator.layerSigned().pipe(Layer.provide(credentials))

test("the cases contain every operation", () => {
  assert.deepStrictEqual(cases.map(({ name }) => name).toSorted(), operations.map(({ name }) => name).toSorted())
})

for (const [client, layer] of senders) {
  describe(`with ${client}`, () => {
    // The clients share what is above them, so five operations show each of the others.
    for (const operation of client === "fetch" ? cases : examples)
      describe(operation.name, () => suite(operation, layer))
  })
}

/** A generated answer, over HTTP. */
const served = ({ body, end, headers, status }: Testing.Answer): Server.Answer => {
  if (end === "late") return Server.silence
  return end === "cut" ? Server.cut(status, `${String(body).repeat(2)}  `) : Server.text(status, body, headers)
}

/** The answers that contain a success, or a part of one. */
const ofSuccess = new Set(["a success", "half a body", "the status of a redirect", "a cut connection"])

function suite(operation: Case, http: Layer.Layer<HttpClient>) {
  const described = operations.find(({ name }) => name === operation.name) ?? assert.fail(operation.name)
  // Secrets in a generated success may be any word, and would be found in the errors of other operations.
  const answers = Testing.of(described, { assemblyId }).answers.filter(
    ({ name }) => described.confidential === undefined || !ofSuccess.has(name)
  )

  /** Runs the operation once, without retries, against a server with one response. */
  const against = <A, E>(
    answer: Server.Answer,
    use: (run: Effect.Effect<unknown, AnyError>, server: Server.HostileServer) => Effect.Effect<A, E>,
    options?: Omit<AssemblyClient.Options, "baseUrl">
  ) =>
    Effect.gen(function* () {
      const server = yield* Server.answering(answer)
      const context = yield* Layer.build(
        AssemblyClient.layer({ baseUrl: server.baseUrl, ...options }).pipe(
          Layer.provide([authenticated, http, RetryPolicy.layerNone]),
          Layer.orDie
        )
      )
      return yield* use(Effect.provideContext(operation.run, context), server)
    }).pipe(Effect.scoped)

  const failure = (answer: Server.Answer, options?: Omit<AssemblyClient.Options, "baseUrl">) =>
    against(answer, (run) => Effect.flip(run), options)

  it.live("sends the request of the specification, and decodes the response (spec O-2)", () =>
    against(Server.json(200, operation.success), (run, server) =>
      Effect.gen(function* () {
        yield* run
        const [request] = server.received
        assert.strictEqual(request?.method, operation.method)
        assert.strictEqual(request?.path, operation.path)
        assert.strictEqual(request?.headers.accept, "application/json")
        const sent = operation.method === "GET" ? request?.query.toString() : request?.body
        assert.strictEqual(sent?.includes("sha384"), operation.signed)
        assert.strictEqual(request?.headers.traceparent, undefined)
      })
    )
  )

  it.live("decodes JSON as text/plain; charset=utf-8, in chunks, and with a 202 (spec O-1)", function* () {
    const json = JSON.stringify(operation.success)
    const plain = yield* against(Server.text(200, json, { "content-type": "text/plain; charset=utf-8" }), (run) => run)
    const accepted = yield* against(Server.json(202, operation.success), (run) => run)
    assert.deepStrictEqual(yield* against(Server.chunked(200, json), (run) => run), plain)
    assert.deepStrictEqual(accepted, plain)
  })

  test("has the declared errors (spec E-6)", () => {
    const declared = answers.flatMap(({ code, tag }) => (code === undefined ? [] : [[code, tag]]))
    assert.deepStrictEqual<unknown>(declared, operation.named)
  })

  it.live.each(answers)("$name is $tag", function* ({ answer, code, tag }) {
    for (const generated of yield* sample(answer, 1)) {
      const options = generated.end === "late" ? { requestTimeout: "50 millis" as const } : {}
      const exit = yield* Effect.exit(against(served(generated), (run) => run, options))
      if (tag === "Success") {
        assert.isTrue(Exit.isSuccess(exit), Formatter.format(exit))
        continue
      }
      const error = Option.getOrUndefined(Exit.findErrorOption(exit))
      assert.strictEqual(error?._tag, tag, Formatter.format(generated))
      if (code !== undefined) assert.deepInclude(error, { code, status: generated.status })
      assert.isAtMost(JSON.stringify(error).length, 10_000)
    }
  })

  it.live("an error contains the Assembly, and never a signature that the response repeats", function* () {
    const echo: Server.Answer = (request, response) => {
      const sent = decodeURIComponent(`${request.query.toString()}${request.body}`)
      const signature = /sha384:[0-9a-f]{96}/.exec(sent)?.[0] ?? ""
      response.writeHead(400).end(JSON.stringify({ error: "X", message: signature, reason: { sent: signature } }))
    }
    const page: Server.Answer = (request, response) => {
      response.writeHead(502).end(`<p>${request.query.toString()}${request.body.slice(-500)}</p>`)
    }
    for (const answer of [echo, page]) {
      const error = yield* failure(answer)
      assert.notMatch(JSON.stringify(error) + error.message, /[0-9a-f]{96}/)
      if (operation.path.includes(assemblyId)) assert.strictEqual(error.assemblyId, assemblyId)
    }
  })
}
