/** The scope of each operation: a request that changes something needs the scope to write. */
import { assert, describe, it } from "@effect/vitest"
import { operations } from "./utils/operations.ts"

/** The resource in the scope, by the module of the operation. */
const resources: Readonly<Record<string, string>> = {
  Assemblies: "assemblies",
  AuthKeys: "auth_keys",
  Billing: "billing",
  Dam: "dam",
  Notifications: "assembly_notifications",
  Queues: "queues",
  TemplateCredentials: "template_credentials",
  Templates: "templates"
}

describe("the scope of an operation", () => {
  for (const { auth, method, name, scope } of operations) {
    it(`${name} requires ${scope ?? "no scope"}`, () => {
      const resource = resources[name.split(".")[0] ?? ""]
      const needed = `${resource}:${method === "GET" ? "read" : "write"}`
      assert.strictEqual<string | undefined>(scope, auth === "none" ? undefined : needed)
    })
  }
})
