/** Tests that each signed operation requires its scope and no other scope. */
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import { assert, test } from "@effect/vitest"
import { Effect } from "effect"
import type { HttpMethod } from "effect/http/HttpMethod"
import { cases, operations } from "../../api/test/utils/operations.ts"
import { as, call, callWithToken, given, refused, tokenOf } from "./keys.ts"
import { json, layer as layerEmulator } from "./support.ts"
import { layer } from "@assembly-effect/testkit/flow"

/** All scopes that do not grant `scope`. */
const allBut = (scope: Auth.Scope): ReadonlyArray<Auth.Scope> =>
  Auth.KnownScope.literals.filter((other) => other !== scope && !scope.endsWith(`:${other}`))

/** Two Auth Keys: one has all scopes that do not grant `scope`, and the other one has only `scope`. */
const keysOf = (scope: Auth.Scope) => {
  const name = scope.replace(":", "-")
  return { without: given(`without-${name}`, allBut(scope)), only: given(`only-${name}`, [scope]) }
}

const signed = operations
  .filter(({ auth }) => auth === "signed")
  .map(({ name, scope = "" }) => {
    const example = cases.find((one) => one.name === name)
    assert(example !== undefined, name)
    const { method, path, run } = example
    const { only, without } = keysOf(scope)
    return { name, scope, method: method as HttpMethod, path, run, only, without }
  })

const keys = new Map(signed.flatMap(({ only, without }) => [only, without].map((key) => [key.key, key] as const)))
const workspaces = [{ slug: "emulator", keys: [...keys.values()] }]

const served = signed.map((operation) => [operation.name, operation] as const)

test("each signed operation has a scope that is known, and no unknown operation is left out", () => {
  for (const { name, scope } of signed) assert.include(Auth.KnownScope.literals, scope, name)
  assert.isAbove(served.length, 30)
})

layer(layerEmulator({ workspaces }))("An operation", (it) => {
  it.effect.each(served)(
    "%s is refused without its scope, over HTTP and by the client (spec A-7)",
    function* ([, operation]) {
      const { method, path, run, scope, without } = operation
      const message = `The scope ${scope} is not granted.`
      assert.strictEqual(refused(yield* call(method, path, without), 400, "INSUFFICIENT_AUTH_SCOPE"), message)
      const token = yield* tokenOf(without)
      refused(yield* callWithToken(method, path, token), 400, "INSUFFICIENT_AUTH_SCOPE")
      const error = yield* Effect.flip(as(without)(run))
      assert.deepInclude(error, { _tag: "AuthenticationFailed", code: "INSUFFICIENT_AUTH_SCOPE", status: 400 })
    }
  )

  it.effect.each(served)(
    "%s is not refused with no other scope, signed or with a token (spec O-4)",
    function* ([, { method, only, path }]) {
      for (const answer of [
        yield* call(method, path, only),
        yield* callWithToken(method, path, yield* tokenOf(only))
      ]) {
        const code = String(json(answer)["error"] ?? "")
        assert.isFalse(ServiceError.authenticationCodes.has(code), answer.text)
        assert.notMatch(code, /^SERVER_/, answer.text)
      }
    }
  )

  it.effect("statistics without a region are refused with a token too (spec A-6)", function* () {
    const { only } = keysOf("assemblies:read")
    const answer = yield* callWithToken("GET", "/assembly_stats", yield* tokenOf(only))
    refused(answer, 400, "ASSEMBLY_STATS_MISSING_REGION")
  })
})
