import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as PieceMemory from "@assembly-effect/tus/PieceMemory"
import * as Upload from "@assembly-effect/tus/Upload"
import * as Uploader from "@assembly-effect/tus/Uploader"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as Vitest from "@effect/vitest"
import { assert, layer } from "@effect/vitest"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import * as Process from "node:process"

const metadata = { filename: "a.txt", fieldname: "file" }

/** The program of the README: an Assembly, an upload of a file, and its bytes read back. */
const program = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* fs.makeTempFileScoped()
  yield* fs.writeFileString(path, "hello")
  const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
  const target = yield* UploadTarget.fromAssembly(assembly)
  const { length } = yield* Upload.run(target, yield* UploadSource.fromPath(path), { metadata })
  const [file] = (yield* Assemblies.awaitCompletion(assembly.assembly_id)).uploads ?? []
  return { length, name: file?.name }
})

const withEmulator = <A, E>(use: (emulator: Emulator.Emulator["Service"]) => Layer.Layer<A, E>) =>
  Layer.unwrap(Effect.map(Emulator.Emulator, use))

layer(Emulator.layer(), { excludeTestServices: true })("AssemblyNode.layer", (it) => {
  it.effect("runs an upload with signed requests, and reuses the memory of sent pieces", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* program, { length: 5n, name: "a.txt" })
      assert.isTrue(PieceMemory.isRegistered(yield* HttpClient.HttpClient))
      assert.strictEqual((yield* Credentials.Credentials).key, (yield* Emulator.Emulator).credentials.key)
    }).pipe(Effect.provide(withEmulator(({ baseUrl, credentials }) => AssemblyNode.layer({ baseUrl, ...credentials }))))
  )

  it.effect("signs with another algorithm and for another time", () =>
    Effect.gen(function* () {
      yield* Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })
    }).pipe(
      Effect.provide(
        withEmulator(({ baseUrl, credentials }) =>
          AssemblyNode.layer({ baseUrl, ...credentials, algorithm: "sha256", window: "1 minute" })
        )
      )
    )
  )

  it.effect("runs the same upload with tokens", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* program, { length: 5n, name: "a.txt" })
    }).pipe(
      Effect.provide(
        withEmulator(({ baseUrl, credentials }) =>
          AssemblyNode.layer({ baseUrl, ...credentials, authentication: "tokens" })
        )
      )
    )
  )

  it.effect("provides the Uploader", () =>
    Effect.gen(function* () {
      const target = yield* UploadTarget.fromAssembly(yield* Assemblies.create({ numExpectedUploadFiles: 1 }))
      const source = UploadSource.fromBytes(new Uint8Array(3))
      assert.strictEqual((yield* Uploader.run(target, source, { metadata })).length, 3n)
    }).pipe(Effect.provide(withEmulator(({ baseUrl, credentials }) => AssemblyNode.layer({ baseUrl, ...credentials }))))
  )

  it.effect("sends a bearer token that the program has", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }))
      assert.strictEqual(error._tag, "AuthenticationFailed")
    }).pipe(
      Effect.provide(
        withEmulator(({ baseUrl }) => AssemblyNode.layerBearer({ baseUrl, token: Redacted.make("not-a-token") }))
      )
    )
  )
})

Vitest.describe("AssemblyNode.layerConfig", () => {
  Vitest.it.effect("names each variable that is missing", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(Layer.build(AssemblyNode.layerConfig()))
      assert.instanceOf(error, Config.ConfigError)
      for (const name of ["ASSEMBLY_BASE_URL", "ASSEMBLY_AUTH_KEY", "ASSEMBLY_AUTH_SECRET"]) {
        assert.include(String(error), name)
      }
    }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: {} })))
  )

  Vitest.it.effect("refuses a credential that is blank", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        Layer.build(AssemblyNode.layer({ baseUrl: "https://api2.example.com", key: " ", secret: Redacted.make("s") }))
      )
      assert.strictEqual(error._tag, "InvalidCredentials")
    })
  )
})

/** A proxy of HTTP, and the hosts that it was asked for. */
const proxy = Effect.acquireRelease(
  Effect.callback<{ readonly url: string; readonly asked: Array<string>; readonly close: () => void }>((resume) => {
    const asked: Array<string> = []
    const server = createServer((incoming, response) => {
      const { headers, method, url = "" } = incoming
      asked.push(new URL(url).host)
      const outgoing = request(url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      outgoing.on("error", () => response.destroy())
      incoming.pipe(outgoing)
    })
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo
      resume(Effect.succeed({ url: `http://127.0.0.1:${port}`, asked, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
)

const variable = (name: string, value: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const before = Process.env[name]
      Process.env[name] = value
      return before
    }),
    (before) =>
      Effect.sync(() => {
        if (before === undefined) delete Process.env[name]
        else Process.env[name] = before
      })
  )

layer(Emulator.layer(), { excludeTestServices: true })("a proxy of the environment", (it) => {
  it.effect("carries operations and uploads, with the same bytes", () =>
    Effect.gen(function* () {
      const { baseUrl, credentials } = yield* Emulator.Emulator
      const { asked, url } = yield* proxy
      yield* variable("HTTP_PROXY", url)
      yield* variable("NO_PROXY", "")
      const size = 3 * 1024 * 1024
      const result = yield* Effect.gen(function* () {
        const target = yield* UploadTarget.fromAssembly(yield* Assemblies.create({ numExpectedUploadFiles: 1 }))
        const source = UploadSource.fromStream(Stream.make(new Uint8Array(size)), { size: BigInt(size) })
        return yield* Upload.run(target, source, { metadata })
      }).pipe(Effect.provide(AssemblyNode.layer({ baseUrl, ...credentials })))
      assert.strictEqual(result.length, BigInt(size))
      assert.isAbove(asked.length, 0)
      assert.deepStrictEqual([...new Set(asked)], [new URL(baseUrl).host])
    })
  )

  it.effect('is not used with `proxy: "none"`', () =>
    Effect.gen(function* () {
      const { baseUrl, credentials } = yield* Emulator.Emulator
      const { asked, url } = yield* proxy
      yield* variable("HTTP_PROXY", url)
      yield* variable("NO_PROXY", "")
      yield* Effect.provide(
        Effect.flatMap(AssemblyClient.AssemblyClient, () =>
          Assemblies.list({ fromDate: DateTime.makeUnsafe("2026-01-01T00:00:00Z") })
        ),
        AssemblyNode.layer({ baseUrl, ...credentials, http: { proxy: "none" } })
      )
      assert.deepStrictEqual(asked, [])
    })
  )
})
