/**
 * Generated requests of every operation over HTTP: a valid one arrives as its schema says, and an invalid one is
 * `InvalidRequest` with its path, before anything is sent.
 */
import { Assemblies, AssemblyClient, RetryPolicy } from "@assembly-effect/api"
import type * as Operation from "@assembly-effect/api/unstable/Operation"
import * as Testing from "@assembly-effect/api/testing"
import { Authenticator } from "@assembly-effect/auth"
import { Assembly } from "@assembly-effect/schema"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Layer, Result, Schema, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { runInNewContext } from "node:vm"
import { credentials } from "./utils/FakeService.ts"
import { count, type Given, sample } from "./utils/generated.ts"
import { operations } from "./utils/operations.ts"
import * as Server from "@assembly-effect/testkit/hostile/HostileServer"

/** Runs a program with a client of a server that refuses every request. */
const withServer = <A, E>(
  program: (
    run: (operation: Operation.Any, input: Given) => Effect.Effect<unknown, { readonly _tag: string }>,
    server: Server.HostileServer
  ) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const server = yield* Server.answering(Server.json(400, { error: "X" }))
    const context = yield* Layer.build(
      AssemblyClient.layer({ baseUrl: server.baseUrl }).pipe(
        Layer.provide([
          Authenticator.layerSigned().pipe(Layer.provide(credentials)),
          FetchHttpClient.layer,
          RetryPolicy.layerNone
        ]),
        Layer.orDie
      )
    )
    return yield* program(
      (operation, input) =>
        Effect.provideContext(
          AssemblyClient.AssemblyClient.use((client) => client.run(operation, input)),
          context
        ),
      server
    )
  }).pipe(Effect.scoped)

/** The params as they arrived, without those of the signature. */
const paramsOf = ({ body, query }: Server.HostileServer["received"][number], isMultipart: boolean): unknown => {
  const text = isMultipart
    ? (/name="params"\r\n\r\n([^]*?)\r\n--/.exec(body)?.[1] ?? "{}")
    : (query.get("params") ?? new URLSearchParams(body).get("params") ?? "{}")
  const { auth: _auth, nonce: _nonce, ...params } = JSON.parse(text)
  return params
}

const fits = (template: string, path: string): ReadonlyArray<string> | undefined =>
  new RegExp(`^${template.replaceAll(/:\w+/g, "([^/]+)")}$`).exec(path)?.slice(1)

it("covers the 36 operations, with rules for each that has params or variables", () => {
  assert.strictEqual(operations.length, 36)
  const without = operations.filter(
    (operation) =>
      (operation.params !== Input.nothing || Object.keys(operation.variables).length > 0) &&
      Testing.of(operation).rules.wire.length === 0
  )
  assert.deepStrictEqual(without, [])
})

it.live("sends a form unchanged, even if FormData belongs to another realm, as in jsdom", () =>
  withServer((run, server) =>
    Effect.gen(function* () {
      vi.stubGlobal("FormData", runInNewContext("class FormData { append() {} }; FormData"))
      const fields = { "ä €": 'a "b"\r\n', boundary: "--assembly-effect-0 and assembly-effect-1" }
      const input = { path: { assemblyId: "0".repeat(32) }, params: { fields }, fields: { numExpectedUploadFiles: 2 } }
      yield* Effect.flip(run(Assemblies.Create, input as Given)).pipe(
        Effect.ensuring(Effect.sync(() => vi.unstubAllGlobals()))
      )
      const [request = assert.fail()] = server.received
      const headers = { "content-type": request.headers["content-type"] ?? "" }
      const form = yield* Effect.promise(() => new Response(request.body, { headers }).formData())
      assert.deepStrictEqual([...form.keys()], ["params", "signature", "num_expected_upload_files"])
      assert.deepStrictEqual(JSON.parse(String(form.get("params"))).fields, fields)
      assert.strictEqual(form.get("num_expected_upload_files"), "2")
    })
  )
)

it.live("fails with InvalidRequest for options that are no object, nested too deeply, or contain a collection", () =>
  withServer((run, server) =>
    Effect.gen(function* () {
      const client = AssemblyClient.AssemblyClient.of({
        origins: ServiceOrigins.make(server.baseUrl, []).pipe(Result.getOrThrow),
        run: run as never,
        open: () => Effect.die("no request")
      })
      const assemblyId = Assembly.AssemblyId.make("0".repeat(32))
      // 20,000 objects in one another.
      const deep = Array.from({ length: 20_000 }).reduce<object>((inner) => ({ inner }), {})
      const circular: Record<string, unknown> = {}
      circular["self"] = [circular]
      const values = [NaN, "x", true, null, undefined, [], new Map(), deep, circular, { fields: { a: new Set() } }]
      for (const value of values) {
        for (const call of [
          Assemblies.create(value as never),
          Assemblies.replace(assemblyId, value as never),
          Stream.runDrain(Assemblies.listAll(value as never))
        ]) {
          const error = yield* Effect.flip(Effect.provideService(call, AssemblyClient.AssemblyClient, client))
          assert.strictEqual(error._tag, "InvalidRequest")
          assert.isBelow(error.message.length, 500)
        }
      }
      assert.strictEqual(server.received.length, 0)
    })
  )
)

describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (_, operation) => {
  const { rules, valid } = Testing.of(operation)

  it.live("sends a valid request as its schemas encode it", () =>
    withServer((run, server) =>
      Effect.gen(function* () {
        const encodeParams = Schema.encodeSync(operation.params)
        const encodePath = Schema.encodeSync(Schema.Struct(operation.variables))
        for (const input of yield* sample(valid.decoded)) {
          const before = server.received.length
          const error = yield* Effect.flip(run(operation, input))
          assert.strictEqual(error._tag, "ServiceFailure", JSON.stringify(error))
          const request = server.received[before]
          assert(request !== undefined && server.received.length === before + 1)
          assert.strictEqual(request.method, operation.method)
          const variables = fits(operation.path, request.path)?.map(decodeURIComponent)
          assert.deepStrictEqual(variables, Object.values(encodePath(input.path)), request.path)
          if (operation.auth === "none") continue
          const arrived = paramsOf(request, operation.carrier === "multipart")
          const { auth: _auth, ...expected } = JSON.parse(JSON.stringify(encodeParams(input.params)))
          assert.deepStrictEqual(arrived, expected)
        }
      })
    )
  )

  it.live("refuses what breaks a rule with its path and without the value, and sends nothing", () =>
    withServer((run, server) =>
      Effect.gen(function* () {
        for (const { invalid, name } of rules.decoded) {
          for (const { input, path } of yield* sample(invalid, Math.ceil(count / 4))) {
            const error = yield* Effect.flip(run(operation, input))
            assert(error._tag === "InvalidRequest" && "issues" in error, name)
            for (const issue of error.issues as InvalidRequest["issues"]) {
              // Steps that use each other have an issue each, and are one part.
              const part = name.endsWith("do not use each other") ? issue.path.slice(0, path.length - 1) : issue.path
              assert.deepStrictEqual(part, path.slice(1) as typeof issue.path, name)
            }
            assert.notInclude(JSON.stringify(error), "surplus")
          }
        }
        assert.strictEqual(server.received.length, 0)
      })
    )
  )
})
