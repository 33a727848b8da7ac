/** The examples in the doc comments of the operations beyond the specification run, each with the response of its operation. */
import { Assemblies, Dam } from "@assembly-effect/api"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Billing from "@assembly-effect/api/Billing"
import * as Notifications from "@assembly-effect/api/Notifications"
import * as Queues from "@assembly-effect/api/Queues"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import { AuthKeyId } from "@assembly-effect/schema/AuthKey"
import * as Bill from "@assembly-effect/schema/Bill"
import { assert, describe, it, test } from "@assembly-effect/testkit/flow"
import { Console, DateTime, Effect, Redacted, Stream } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { beyond } from "./utils/beyond.ts"
import { assemblyId, assetId } from "./utils/case.ts"
import * as Service from "./utils/FakeService.ts"

const modules = { Assemblies, AuthKeys, Billing, Dam, Notifications, Queues, TemplateCredentials, Templates }

const scope = {
  ...modules,
  Bill,
  Console: { ...Console, log: () => Effect.void },
  DateTime,
  Effect,
  Redacted,
  Stream,
  assemblyId,
  assetId,
  first: assetId,
  second: assetId,
  authKeyId: AuthKeyId.make("1"),
  credentialsId: "1"
}

/** The examples of each operation: those between its description and the next one. */
const examples = readdirSync(new URL("../src", import.meta.url), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .toSorted()
  .flatMap((file) =>
    readFileSync(new URL(`../src/${file}`, import.meta.url), "utf8").split(/^export const \w+ = Operation\.make/m)
  )
  .flatMap((source) => {
    const operation = /^\("(\w+\.\w+)",/.exec(source)?.[1]
    const found = beyond.find(({ name }) => name === operation)
    if (found === undefined) return []
    const programs = [...source.matchAll(/^ \* @example\n(.*?)^ \*\n \* @since/gms)].map(([, text = ""]) =>
      text.replaceAll(/^ \* ?/gm, "").trim()
    )
    return [[found.name, found.success, programs] as const]
  })

describe("the examples in doc comments", () => {
  test("each operation beyond the specification has an example", () => {
    assert.deepStrictEqual(
      examples
        .filter(([, , programs]) => programs.length > 0)
        .map(([name]) => name)
        .toSorted(),
      beyond.map(({ name }) => name).toSorted()
    )
  })

  it.effect.each(examples)("each example of %s succeeds with one request", function* ([name, success, programs]) {
    for (const program of programs) {
      const value: unknown = new Function(...Object.keys(scope), `return (${program})`)(...Object.values(scope))
      assert.isTrue(Effect.isEffect(value), `${name}: ${program}`)
      const service = Service.make(Service.json(200, success))
      yield* Effect.provide(value as Effect.Effect<unknown, unknown, AssemblyClient>, Service.client(service))
      assert.strictEqual(service.requests.length, 1, program)
    }
  })
})
