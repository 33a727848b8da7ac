import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { Effect, Exit, FileSystem, Layer, Redacted } from "effect"
import { createUpload, layer, patch, patchForever, temporaryFolder } from "./support.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

// Windows has no POSIX file permissions.
it.live.skipIf(process.platform === "win32")(
  "keeps its folder, with secrets and uploads, from others",
  NodeFileSystem.layer,
  function* () {
    const fs = yield* FileSystem.FileSystem
    const data = `${yield* fs.makeTempDirectoryScoped()}/data`
    // Creates a folder that every user can read.
    yield* fs.makeDirectory(data, { mode: 0o755 })
    yield* fs.writeFile(`${data}/emulator.sqlite`, new Uint8Array(), { mode: 0o644 })
    yield* Effect.gen(function* () {
      const bytes = new Uint8Array(4)
      const status = yield* Assemblies.create({ numExpectedUploadFiles: 2 })
      const part = yield* createUpload(status, { "upload-length": "4", "upload-concat": "partial" })
      yield* patch(part.url, 0, bytes)
      yield* createUpload(status, { "upload-concat": `final;${part.url}` })
      const names = yield* fs.readDirectory(data, { recursive: true })
      assert.isAbove(names.length, 4)
      for (const name of names) {
        const { mode, type } = yield* fs.stat(`${data}/${name}`)
        assert.strictEqual(mode & 0o777, type === "Directory" ? 0o700 : 0o600, name)
      }
    }).pipe(Effect.provide(layer({ data })))
    const made = yield* fs.makeTempDirectoryScoped()
    yield* Layer.build(Emulator.layer({ data: `${made}/new` }))
    assert.strictEqual((yield* fs.stat(`${made}/new`)).mode & 0o777, 0o700)
  }
)
it.live("is closed with its scope during a request, and keeps what arrived", NodeFileSystem.layer, function* () {
  const fs = yield* FileSystem.FileSystem
  const data = yield* fs.makeTempDirectoryScoped()
  const { baseUrl } = yield* Effect.gen(function* () {
    const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
    const { url } = yield* createUpload(assembly, { "upload-length": "10" })
    yield* Effect.forkDetach(patchForever(url, new Uint8Array(4)))
    const id = assembly.assembly_id
    yield* Effect.repeat(Assemblies.get(id), { until: ({ bytes_received }) => bytes_received === 4 })
    return yield* Emulator.Emulator
  }).pipe(Effect.provide(layer({ data })))

  const refused = yield* Effect.exit(Effect.tryPromise(() => fetch(baseUrl)))
  assert.isTrue(Exit.isFailure(refused))
  const [upload = ""] = yield* fs.readDirectory(`${data}/files`)
  assert.strictEqual((yield* fs.readFile(`${data}/files/${upload}`)).length, 4)
})
it.live("draws the same ids from the same seed, and none twice for the same data", NodeFileSystem.layer, function* () {
  const data = yield* temporaryFolder
  const drawn = (options: Emulator.Options) =>
    Effect.gen(function* () {
      const assembly = yield* Assemblies.create({ numExpectedUploadFiles: 1 })
      const { url } = yield* createUpload(assembly, { "upload-length": "1" })
      return new URL(url).pathname
    }).pipe(Effect.provide(layer(options)))
  const first = yield* drawn({ seed: "a" })
  assert.strictEqual(yield* drawn({ seed: "a" }), first)
  assert.notStrictEqual(yield* drawn({ seed: "b" }), first)
  const upload = yield* drawn({ seed: "a", data })
  assert.notStrictEqual(yield* drawn({ seed: "a", data }), upload)
})

it.live("a seed decides no Auth Key and no secret", NodeFileSystem.layer, function* () {
  const data = yield* temporaryFolder
  const drawn = (options: Emulator.Options) =>
    Emulator.Emulator.useSync(({ credentials: { key, secret } }) => [key, Redacted.value(secret)]).pipe(
      Effect.provide(Emulator.layer(options))
    )
  const [key, secret] = yield* drawn({ seed: "a" })
  const [otherKey, otherSecret] = yield* drawn({ seed: "a" })
  assert.notStrictEqual(otherKey, key)
  assert.notStrictEqual(otherSecret, secret)
  const given = { key: "key", secret: Redacted.make("secret") }
  assert.deepStrictEqual(yield* drawn({ seed: "a", credentials: given }), ["key", "secret"])
  // A later start with the same folder has the same Auth Key.
  assert.deepStrictEqual(yield* drawn({ seed: "a", data }), yield* drawn({ seed: "a", data }))
})
