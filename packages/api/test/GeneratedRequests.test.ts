/**
 * Generated requests of every operation over HTTP: a valid one arrives as its schema says, and an invalid one is
 * `InvalidRequest` with its path, before anything is sent.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Dam from "@assembly-effect/api/Dam"
import * as Notifications from "@assembly-effect/api/Notifications"
import * as Input from "@assembly-effect/api/unstable/Input"
import type * as Operation from "@assembly-effect/api/Operation"
import * as Queues from "@assembly-effect/api/Queues"
import * as RetryPolicy from "@assembly-effect/api/RetryPolicy"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Testing from "@assembly-effect/schema/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { credentials } from "./utils/FakeService.ts"
import { operations } from "./utils/operations.ts"
import * as Server from "../../../test/hostile/HostileServer.ts"

/** REQUESTS=1000 tries more of each kind. */
const count = Number(process.env["REQUESTS"] ?? 60)
const seed = 20_261_121

/** The invalid params of each operation that has rules for them. */
const invalidParams: ReadonlyMap<Operation.Any, Testing.Invalids> = new Map<Operation.Any, Testing.Invalids>([
  [Assemblies.Create, Testing.createAssembly],
  [Assemblies.Replace, Testing.createAssembly],
  [Assemblies.Replay, Testing.replayAssembly],
  [Assemblies.List, Testing.list],
  [Assemblies.Statistics, Testing.statistics],
  [Notifications.Replay, Testing.replayNotification],
  [AuthKeys.Create, Testing.createAuthKey],
  [AuthKeys.Update, Testing.updateAuthKey],
  [Templates.List, Testing.listTemplates],
  [Templates.Create, Testing.createTemplate],
  [Templates.Update, Testing.updateTemplate],
  [TemplateCredentials.Create, Testing.createCredential],
  [TemplateCredentials.Update, Testing.updateCredential],
  [Queues.Statistics, Testing.jobSlotStatistics],
  [Dam.Get, Testing.getAsset],
  [Dam.List, Testing.listAssets],
  [Dam.Move, Testing.move],
  [Dam.MoveMany, Testing.moveAssets],
  [Dam.DeleteMany, Testing.deleteAssets],
  [Dam.MoveEntry, Testing.moveEntry]
])

/** The invalid ids and names of each variable of a path. */
const invalidVariables: Readonly<Record<string, Arbitrary.Arbitrary<unknown>>> = {
  authKeyId: Arbitrary.map(Testing.authKeyId.decoded, ({ input }) => input),
  credentialId: Arbitrary.map(Testing.credentialId.decoded, ({ input }) => input),
  templateIdOrName: Arbitrary.map(Testing.templateIdOrName.decoded, ({ input }) => input),
  month: Arbitrary.map(Testing.month.decoded, ({ input }) => input),
  assemblyId: Arbitrary.schema(Schema.Literals(["", "0", "../x", "g".repeat(32), "A".repeat(32)])),
  assetId: Arbitrary.schema(Schema.Literals(["", "AAAAAAAAAAAAAAAAAAAAAB", "../x", "AAAAAAAAAAAAAAAAAAAAA"]))
}

const sample = <A>(arbitrary: Arbitrary.Arbitrary<A>) =>
  Arbitrary.sampleEffect(arbitrary, { count, seed, maxDiscards: count })

type Given = Operation.Input<Operation.Any>

/** Valid inputs of an operation. */
const inputs = (operation: Operation.Any) =>
  Effect.map(
    Effect.all([
      sample(Arbitrary.schema(Schema.Struct(operation.variables))),
      sample(Arbitrary.schema(operation.params)),
      sample(Arbitrary.schema(operation.fields))
    ]),
    ([paths, params, fields]) =>
      paths.map((path, index): Given => ({ path: path as Given["path"], params: params[index], fields: fields[index] }))
  )

/** Runs a program with a client of a server that refuses every request. */
const withServer = <A, E>(
  program: (
    run: (operation: Operation.Any, input: Given) => Effect.Effect<unknown, { readonly _tag: string }>,
    server: Server.HostileServer
  ) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const server = yield* Server.make
    server.script(Server.json(400, { error: "X" }))
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

/** Whether the rule of the params that a schema cannot check refuses an input. */
const isRefused = (operation: Operation.Any, { params }: Given): boolean =>
  (operation.check?.(params, undefined as never) ?? []).length > 0

it("covers the 36 operations, and the params of each that has some", () => {
  assert.strictEqual(operations.length, 36)
  const without = operations.filter((operation) => operation.params !== Input.nothing && !invalidParams.has(operation))
  assert.deepStrictEqual(without, [])
})

describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (_, operation) => {
  it.live("sends a valid request as its schemas encode it", () =>
    withServer((run, server) =>
      Effect.gen(function* () {
        const encodeParams = Schema.encodeSync(operation.params)
        const encodePath = Schema.encodeSync(Schema.Struct(operation.variables))
        const checksTime = operation === Assemblies.Statistics
        const valid = (yield* inputs(operation)).filter((input) => checksTime || !isRefused(operation, input))
        assert.isAbove(valid.length, count / 4)
        for (const input of valid) {
          const before = server.received.length
          const error = yield* Effect.flip(run(operation, input))
          if (checksTime && error._tag === "InvalidRequest") continue
          assert.strictEqual(error._tag, "ServiceFailure", JSON.stringify(error))
          const request = server.received[before]
          assert(request !== undefined && server.received.length === before + 1)
          assert.strictEqual(request.method, operation.method)
          const variables = fits(operation.path, request.path)?.map(decodeURIComponent)
          assert.deepStrictEqual(variables, Object.values(encodePath(input.path)), request.path)
          if (operation.auth === "none") continue
          const arrived = paramsOf(request, operation.carrier === "multipart")
          assert.deepStrictEqual(arrived, JSON.parse(JSON.stringify(encodeParams(input.params))))
        }
      })
    )
  )

  const invalid = invalidParams.get(operation)
  if (invalid !== undefined) {
    it.live("refuses invalid params with their path, and sends nothing", () =>
      withServer((run, server) =>
        Effect.gen(function* () {
          const [valid] = yield* inputs(operation)
          for (const { input, path, rule } of yield* sample(invalid.decoded)) {
            const error = yield* Effect.flip(run(operation, { ...valid, params: input } as Given))
            assert.strictEqual(error._tag, "InvalidRequest", rule)
            const { issues } = error as unknown as { readonly issues: ReadonlyArray<{ readonly path: unknown }> }
            for (const issue of issues) assert.deepStrictEqual(issue.path, path, rule)
          }
          assert.strictEqual(server.received.length, 0)
        })
      )
    )
  }

  const variables = Object.keys(operation.variables)
  if (variables.length > 0) {
    it.live("refuses an invalid id or name in the path, and sends nothing", () =>
      withServer((run, server) =>
        Effect.gen(function* () {
          const [valid] = yield* inputs(operation)
          for (const name of variables) {
            const arbitrary = invalidVariables[name]
            if (arbitrary === undefined) return assert.fail(`no invalid ${name}`)
            for (const bad of yield* sample(arbitrary)) {
              const error = yield* Effect.flip(run(operation, { ...valid, path: { [name]: bad } } as Given))
              assert.deepInclude(error, { _tag: "InvalidRequest" })
              const { issues } = error as unknown as { readonly issues: ReadonlyArray<{ readonly path: unknown }> }
              for (const issue of issues) assert.deepStrictEqual(issue.path, [name])
            }
          }
          assert.strictEqual(server.received.length, 0)
        })
      )
    )
  }
})
