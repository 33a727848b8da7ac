import { Assemblies } from "@assembly-effect/api"
import * as TemplateCredentials from "@assembly-effect/api/TemplateCredentials"
import * as Templates from "@assembly-effect/api/Templates"
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { Effect, Redacted } from "effect"
import { as, south, workspaces } from "./keys.ts"
import { call } from "./signedCalls.ts"
import { layer as layerEmulator } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const content = Redacted.make({ key: "k", secret: "s", bucket: "b" })

const made = Effect.fnUntraced(function* (name: string) {
  const { credential } = yield* TemplateCredentials.create({ name, type: "s3", content })
  assert(credential !== undefined)
  return credential.id
})

/** A Step with these credentials. Its robot does not use them. */
const stepsWith = (credentials: string | ReadonlyArray<string>) => ({
  exported: { robot: "/upload/handle", credentials }
})

const missing = "There are no Template Credentials with this name in this Workspace."

/** Checks that a creation is refused. */
const isRefused = Effect.fnUntraced(function* (options: Assemblies.CreateOptions, description: string) {
  const error = yield* Effect.flip(Assemblies.create(options))
  assert.deepInclude(error, { code: "TEMPLATE_CREDENTIALS_INJECTION_ERROR", status: 400, description })
})

layer(layerEmulator({ workspaces }))("Credentials that Steps name", (it) => {
  it.effect("must exist when the Assembly is created", function* () {
    const assemblyId = AssemblyId.make("c".repeat(32))
    const steps = stepsWith("photos")
    yield* isRefused({ assemblyId, steps }, `steps.exported.credentials: ${missing}`)
    assert.deepInclude(yield* Effect.flip(Assemblies.get(assemblyId)), { code: "ASSEMBLY_NOT_FOUND" })

    const id = yield* made("photos")
    assert.strictEqual((yield* Assemblies.create({ assemblyId, steps })).ok, "ASSEMBLY_COMPLETED")
    yield* TemplateCredentials.delete(id)
  })

  it.effect("are checked through a Template, and at once after a change", function* () {
    const { id: templateId } = yield* Templates.create({ name: "export", template: { steps: stepsWith("renamed") } })
    const expected = `steps.exported.credentials: ${missing}`
    yield* isRefused({ templateId }, expected)

    const id = yield* made("first")
    yield* isRefused({ templateId }, expected)
    yield* TemplateCredentials.update(id, { name: "renamed", type: "s3" })
    const { assembly_id } = yield* Assemblies.create({ templateId })
    const original = AssemblyId.make(assembly_id)
    assert.strictEqual((yield* Assemblies.replay(original)).ok, "ASSEMBLY_REPLAYING")

    yield* TemplateCredentials.update(id, { name: "other", type: "s3" })
    yield* isRefused({ templateId }, expected)
    for (const reparseTemplate of [true, false]) {
      const replay = yield* Effect.flip(Assemblies.replay(original, { reparseTemplate }))
      assert.deepInclude(replay, { code: "TEMPLATE_CREDENTIALS_INJECTION_ERROR", status: 400 })
    }
    // A changed Step of the replay may name credentials that exist.
    const steps = { exported: { credentials: "other" } }
    assert.strictEqual((yield* Assemblies.replay(original, { steps })).ok, "ASSEMBLY_REPLAYING")
    yield* TemplateCredentials.delete(id)
    assert.deepInclude(yield* Effect.flip(Assemblies.replay(original, { steps })), {
      code: "TEMPLATE_CREDENTIALS_INJECTION_ERROR"
    })
  })

  it.effect("are those of the same Workspace", function* () {
    const id = yield* as(south)(made("southern"))
    const steps = stepsWith("southern")
    yield* isRefused({ steps }, `steps.exported.credentials: ${missing}`)
    assert.strictEqual((yield* as(south)(Assemblies.create({ steps }))).ok, "ASSEMBLY_COMPLETED")
    yield* as(south)(TemplateCredentials.delete(id))
  })

  it.effect("may be a list, may contain a variable, and may be null", function* () {
    const id = yield* made("one")
    const problems = `steps.exported.credentials.1: ${missing}; steps.exported.credentials.3: ${missing}`
    yield* isRefused({ steps: stepsWith(["one", "two", "one", "__proto__"]) }, problems)
    for (const credentials of [["one"], [], "${fields.account}", ["one", "${fields.account}"], null]) {
      const { said } = yield* call("POST", "/assemblies", { steps: { a: { robot: "/upload/handle", credentials } } })
      assert.deepInclude(said, { ok: "ASSEMBLY_COMPLETED" })
    }
    yield* TemplateCredentials.delete(id)
  })

  it.effect.each<readonly [unknown, string]>([
    [5, "steps.a.credentials: Expected the name of Template Credentials"],
    [{ name: "one" }, "steps.a.credentials: Expected the name of Template Credentials"],
    [
      ["\uD800", [1]],
      `steps.a.credentials.0: ${missing}; steps.a.credentials.1: Expected the name of Template Credentials`
    ],
    ["", `steps.a.credentials: ${missing}`],
    ["${}", `steps.a.credentials: ${missing}`],
    ["n".repeat(100_000), `steps.a.credentials: ${missing}`]
  ])("are refused if they are not names: %j", function* ([credentials, message]) {
    const steps = { a: { robot: "/upload/handle", credentials } }
    const { said } = yield* call("POST", "/assemblies", { steps })
    assert.deepInclude(said, { error: "TEMPLATE_CREDENTIALS_INJECTION_ERROR", http_code: 400, message })
  })
})
