import { AssemblyNode } from "@assembly-effect/node"
import { AssemblyUpload, UploadSource } from "@assembly-effect/tus"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Undici from "@effect/platform-node/Undici"
import { Config, Console, Effect, FileSystem, Layer, Redacted, Schema } from "effect"

const ProxyUrl = Schema.String.check(
  Schema.makeFilter((text) => /^https?:/.test(text) && URL.canParse(text), { expected: "an http or https URL" })
)

const dispatcher = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  // The URL may contain a user name and a password: http://user:password@proxy.example.com:3128
  const proxy = yield* Config.schema(Schema.RedactedFromValue(ProxyUrl), "HTTPS_PROXY")
  const requestTls = {
    // The private certificate authority of the service, and the certificate that the service requires of clients.
    ca: yield* fs.readFileString("ca.pem"),
    cert: yield* fs.readFileString("client.pem"),
    key: yield* fs.readFileString("client-key.pem")
  }
  return yield* Effect.acquireRelease(
    Effect.sync(() => new Undici.ProxyAgent({ uri: Redacted.value(proxy), requestTls })),
    (agent) => Effect.promise(() => agent.destroy())
  )
})

const live = Layer.unwrap(
  Effect.map(dispatcher, (agent) => AssemblyNode.layerConfig({ http: { dispatcher: agent } }))
).pipe(Layer.provide(NodeServices.layer))

const program = Effect.gen(function* () {
  const { ok } = yield* AssemblyUpload.run({
    params: { steps: { ":original": { robot: "/upload/handle" } } },
    files: [{ source: UploadSource.fromPath("letter.txt"), filename: "letter.txt" }]
  })
  yield* Console.log(ok)
})

program.pipe(Effect.provide(live), NodeRuntime.runMain)
