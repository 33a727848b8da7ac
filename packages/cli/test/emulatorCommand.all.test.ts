import * as AssemblyClientConfig from "@assembly-effect/api/AssemblyClientConfig"
import { Assemblies } from "@assembly-effect/api"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { ConfigProvider, Effect, FileSystem, Layer } from "effect"
import { FetchHttpClient } from "effect/http"
import { request } from "node:http"
import { connect } from "node:http2"
import { createServer } from "node:net"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as InProcess from "./support/inProcess.ts"
import * as Spawned from "./support/spawned.ts"

const run = (...args: ReadonlyArray<string>) => Spawned.emulator({}, ...args)

/** The error of a command that refuses its arguments, or cannot listen. */
const refusal = (...args: ReadonlyArray<string>) =>
  Effect.map(InProcess.assembly(import.meta.dirname, {}, ["emulator", ...args]), ({ stderr }) => stderr)

/** The environment that the command prints. */
const environment = (said: string) =>
  Object.fromEntries([...said.matchAll(/^export (\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]))

/** A request with an endless body. It settles when the server has ended it. */
const begin = (url: string, headers: Readonly<Record<string, string>>) => {
  const sent = request(url, { method: "POST", headers })
  sent.write(new Uint8Array(1000))
  return new Promise<void>((resolve) => void sent.once("error", () => resolve()).once("response", () => resolve()))
}

layer(NodeServices.layer)("assembly emulator", (it) => {
  it.effect("assembly emulator prints the environment of a client, and reads Templates from a file", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const steps = { fail: { robot: "/emulator/fail", error: "FROM_FILE" } }
    yield* fs.writeFileString(`${folder}/templates.json`, JSON.stringify([{ id: "one", content: { steps } }]))
    const { interrupt, said } = yield* run("--data", `${folder}/data`, "--templates", `${folder}/templates.json`)

    const status = yield* Assemblies.create({ templateId: "one" }).pipe(
      Effect.provide(AssemblyClientConfig.layer().pipe(Layer.provide(FetchHttpClient.layer))),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment(said)))
    )
    assert.strictEqual(status.error, "FROM_FILE")
    yield* interrupt
    assert.isTrue(yield* fs.exists(`${folder}/data/emulator.sqlite`))
  })

  it.effect("assembly emulator --key --secret uses the given Auth Key and secret, and no others", function* () {
    const of = (said: string) => {
      const { ASSEMBLY_AUTH_KEY: key, ASSEMBLY_AUTH_SECRET: secret } = environment(said)
      return { key, secret }
    }
    const env = { ASSEMBLY_EMULATOR_KEY: "k1", ASSEMBLY_EMULATOR_SECRET: "s1" }
    // The variables of the real service must not be used for the emulator.
    const foreign = { ASSEMBLY_AUTH_KEY: "production", ASSEMBLY_AUTH_SECRET: "production" }
    const [own, byFlags, byEnv] = yield* Effect.all(
      [Spawned.emulator(foreign), run("--key", "k1", "--secret", "s1"), Spawned.emulator(env, "--seed", "1")],
      { concurrency: 2 }
    )
    assert.match(own.said, /^export ASSEMBLY_AUTH_SECRET=[0-9a-f]{32}$/m)
    assert.notInclude(own.said, "production")
    for (const { said } of [byFlags, byEnv]) assert.deepStrictEqual(of(said), { key: "k1", secret: "s1" })
  })

  it.effect(
    "assembly emulator --quotas service refuses a client with more than 100 errors in 10 seconds",
    function* () {
      const url = `${environment((yield* run("--quotas", "service")).said)["ASSEMBLY_BASE_URL"]}/nothing`
      const statuses = yield* Effect.replicateEffect(
        Effect.promise(() => fetch(url).then(({ status }) => status)),
        102
      )
      assert.deepStrictEqual([statuses[100], statuses[101]], [404, 429])
    }
  )

  it.effect("assembly emulator --public-url --allowed-host uses the given public URL and hosts", function* () {
    const publicUrl = "https://dev.example.com"
    const { said } = yield* run("--public-url", publicUrl, "--allowed-host", "a.example", "--allowed-host", "b.example")
    assert.strictEqual(environment(said)["ASSEMBLY_BASE_URL"], publicUrl)
    const local = /^# Listening on (http:\/\/127\.0\.0\.1:\d+)\.$/m.exec(said)?.[1] ?? ""
    const statusAt = (host: string) =>
      Effect.callback<number | undefined>((resume) => {
        const sent = request(`${local}/assemblies/x`, { headers: { host } }, (answer) => {
          resume(Effect.succeed(answer.resume().statusCode))
        })
        sent.end()
      })
    const hosts = ["dev.example.com", "a.example", "b.example", "c.example"]
    assert.deepStrictEqual(yield* Effect.forEach(hosts, statusAt), [404, 404, 404, 421])

    const shell = yield* run("--public-url", "http://$(id).example")
    assert.include(shell.said, "export ASSEMBLY_BASE_URL='http://$(id).example'\n")
  })

  it.effect("assembly emulator --tls answers over HTTP/2, with a certificate of its own or a given one", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const { generate } = yield* Effect.promise(() => import("selfsigned"))
    const made = yield* Effect.promise(() => generate([{ name: "commonName", value: "localhost" }], { keyType: "ec" }))
    const [cert, key] = [`${folder}/cert.pem`, `${folder}/key.pem`]
    yield* fs.writeFileString(cert, made.cert)
    yield* fs.writeFileString(key, made.private)
    const certificateOf = (said: string) =>
      Effect.callback<{ readonly protocol: string | undefined; readonly pem: string | undefined }>((resume) => {
        const session = connect(environment(said)["ASSEMBLY_BASE_URL"] ?? "", { rejectUnauthorized: false })
        session.once("connect", (_, socket) => {
          const shown = "getPeerX509Certificate" in socket ? socket.getPeerX509Certificate() : undefined
          resume(Effect.succeed({ protocol: session.alpnProtocol, pem: shown?.toString().trim() }))
          session.destroy()
        })
      })

    const own = yield* run("--tls")
    assert.match(own.said, /^export ASSEMBLY_BASE_URL=https:\/\/127\.0\.0\.1:\d+$/m)
    assert.match(own.said, /^# The certificate is self-signed: accept it once at https:/m)
    assert.strictEqual((yield* certificateOf(own.said)).protocol, "h2")

    const given = yield* run("--tls-cert", cert, "--tls-key", key)
    assert.notInclude(given.said, "The certificate")
    const pem = made.cert.replaceAll("\r", "").trim()
    assert.deepStrictEqual(yield* certificateOf(given.said), { protocol: "h2", pem })

    const swapped = yield* refusal("--tls-cert", key, "--tls-key", cert)
    assert.match(swapped, /^assembly: --tls-cert and --tls-key: Expected a certificate and its private key/)
    assert.notInclude(swapped, made.private.slice(40, 60))
  })

  // Windows does not have these signals.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    it.effect.skipIf(process.platform === "win32")(
      `assembly emulator ends with ${signal}, whatever is under way, and leaves no temporary folder`,
      function* () {
        const fs = yield* FileSystem.FileSystem
        const temporary = yield* fs.makeTempDirectoryScoped()
        const { end, said } = yield* Spawned.emulator({ TMPDIR: temporary })
        assert.strictEqual((yield* fs.readDirectory(temporary)).length, 1)
        yield* Effect.gen(function* () {
          // An Assembly is executing, a client follows it, and a request sends an endless body.
          const hour = { wait: { robot: "/emulator/wait", seconds: 3600 } }
          const executing = yield* Assemblies.create({ steps: hour })
          const followed = yield* Effect.promise(() => fetch(executing.update_stream_url ?? ""))
          assert.strictEqual(followed.status, 200)
          const waiting = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
          const base64 = (text: string) => Buffer.from(text).toString("base64")
          const headers = {
            "tus-resumable": "1.0.0",
            "upload-length": "1000000",
            "content-type": "application/offset+octet-stream",
            "upload-metadata": `assembly_url ${base64(waiting.assembly_ssl_url ?? "")},filename YQ==,fieldname Yg==`
          }
          const over = begin(waiting.tus_url ?? "", headers)
          yield* Effect.repeat(Assemblies.get(waiting.assembly_id), {
            until: ({ bytes_received }) => bytes_received === 1000
          })
          assert.strictEqual(yield* end(signal), 130)
          yield* Effect.promise(() => over)
        }).pipe(
          Effect.provide(AssemblyClientConfig.layer().pipe(Layer.provide(FetchHttpClient.layer))),
          Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(environment(said)))
        )
        assert.deepStrictEqual(yield* fs.readDirectory(temporary), [])
      }
    )
  }

  it.effect("assembly emulator names a port that another program uses, with the remedy", function* () {
    const port = yield* Loopback.listen(createServer())
    assert.strictEqual(
      yield* refusal("--port", String(port)),
      `assembly: cannot listen on port ${port}: another program uses this port; name another port with --port, or leave out --port for a free port\n`
    )
  })
})
