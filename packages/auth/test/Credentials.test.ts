import * as CredentialsConfig from "@assembly-effect/auth/CredentialsConfig"
import { Credentials } from "@assembly-effect/auth"
import { assert, describe, it } from "@assembly-effect/testkit/flow"
import { ConfigProvider, Effect, Layer, Redacted } from "effect"

const read = (env: Readonly<Record<string, string>>) =>
  Credentials.Credentials.use(Effect.succeed).pipe(
    Effect.provide(CredentialsConfig.layer.pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env })))))
  )

describe("Credentials", () => {
  it.effect("CredentialsConfig.layer reads key and secret, and redacts the secret", function* () {
    const { key, secret } = yield* read({ ASSEMBLY_AUTH_KEY: "a-key", ASSEMBLY_AUTH_SECRET: "a-secret" })
    assert.strictEqual(key, "a-key")
    assert.strictEqual(Redacted.value(secret), "a-secret")
    assert.notInclude(String(secret), "a-secret")
  })

  it.effect.each([
    ["ASSEMBLY_AUTH_KEY", { ASSEMBLY_AUTH_SECRET: "a-secret" }],
    ["ASSEMBLY_AUTH_KEY", { ASSEMBLY_AUTH_KEY: "", ASSEMBLY_AUTH_SECRET: "a-secret" }],
    ["ASSEMBLY_AUTH_SECRET", { ASSEMBLY_AUTH_KEY: "a-key" }],
    ["ASSEMBLY_AUTH_SECRET", { ASSEMBLY_AUTH_KEY: "a-key", ASSEMBLY_AUTH_SECRET: "" }],
    ["ASSEMBLY_AUTH_KEY", { ASSEMBLY_AUTH_KEY: " \t", ASSEMBLY_AUTH_SECRET: "a-secret" }],
    ["ASSEMBLY_AUTH_SECRET", { ASSEMBLY_AUTH_KEY: "a-key", ASSEMBLY_AUTH_SECRET: "\n" }]
  ] as const)("fails with a ConfigError that names %s if the environment is %j", function* ([variable, env]) {
    const error = yield* Effect.flip(read(env))
    assert.strictEqual(error._tag, "ConfigError")
    assert.include(error.message, variable)
    assert.notInclude(error.message, "a-secret")
  })

  it.effect.each([
    ["key", "", "a-secret"],
    ["key", " ", "a-secret"],
    ["secret", "a-key", ""],
    ["secret", "a-key", " \n"]
  ] as const)("fails with InvalidCredentials for a blank %s (%j, %j)", function* ([field, key, secret]) {
    const layer = Credentials.layer({ key, secret: Redacted.make(secret) })
    const error = yield* Effect.flip(Credentials.Credentials.use(Effect.succeed).pipe(Effect.provide(layer)))
    assert.strictEqual(error._tag, "InvalidCredentials")
    assert.strictEqual(error.message, `the credentials are invalid: ${field}: Expected a non-blank string`)
  })

  it.effect.each([
    ["a text", "my secret"],
    ["null", null],
    ["a number", 5]
  ] as const)("with %s as secret, which is not Redacted, are refused by name", function* ([, secret]) {
    // A JavaScript program may give any value.
    const layer = Credentials.layer({ key: "", secret: secret as never })
    const error = yield* Effect.flip(Credentials.Credentials.use(Effect.succeed).pipe(Effect.provide(layer)))
    assert.deepStrictEqual(error.issues, [
      { path: ["key"], message: "Expected a non-blank string" },
      { path: ["secret"], message: "Expected a Redacted string" }
    ])
  })
})
