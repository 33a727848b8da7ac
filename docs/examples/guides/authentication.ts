import { Assemblies } from "@assembly-effect/api"
import { AssemblyNode } from "@assembly-effect/node"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Config, Console, DateTime, Effect, Layer, Redacted } from "effect"

// The program does not know how its requests are authenticated.
const program = Effect.gen(function* () {
  const fromDate = DateTime.subtract(yield* DateTime.now, { hours: 1 })
  yield* Assemblies.list({ fromDate })
  return "accepted"
}).pipe(Effect.catchTag("AuthenticationFailed", ({ code }) => Effect.succeed(`refused with ${code}`)))

// Signs each request with the Auth Secret.
const signed = AssemblyNode.layerConfig()

// Exchanges the Auth Secret for a token, and renews the token before it expires.
const tokens = AssemblyNode.layerConfig({ authentication: "tokens" })

// Has only a token, which another program has requested.
const bearer = Layer.unwrap(
  Effect.gen(function* () {
    const baseUrl = yield* Config.NonEmptyString("ASSEMBLY_BASE_URL")
    const token = yield* Config.Redacted("MY_TOKEN").pipe(Config.withDefault(Redacted.make("expired")))
    return AssemblyNode.layerBearer({ baseUrl, token })
  })
)

Effect.gen(function* () {
  yield* Console.log(`signed: ${yield* Effect.provide(program, signed)}`)
  yield* Console.log(`tokens: ${yield* Effect.provide(program, tokens)}`)
  yield* Console.log(`bearer: ${yield* Effect.provide(program, bearer)}`)
}).pipe(NodeRuntime.runMain)
