import * as Results from "@assembly-effect/api/Results"
import * as Md5 from "@assembly-effect/api/unstable/Md5"
import { Emulator, Faults } from "@assembly-effect/emulator"
import { AssemblyNode, NodeMd5 } from "@assembly-effect/node"
import { AssemblyUpload, DeliveryProof, UploadSource } from "@assembly-effect/tus"
import { assert, effect, layer } from "@assembly-effect/testkit/flow"
import { Effect, FileSystem, Layer, Schema } from "effect"
import { createHash } from "node:crypto"

const mebi = 1024 * 1024

effect.prop(
  "computes the same MD5 as the default, and goes on after a digest",
  [Schema.Array(Schema.Uint8Array)],
  ([pieces]) =>
    Effect.gen(function* () {
      const portable = yield* Md5.make
      const native = yield* Effect.provide(Md5.make, NodeMd5.layer)
      const whole = createHash("md5")
      for (const piece of [new Uint8Array(0), ...pieces]) {
        portable.add(piece)
        native.add(piece)
        whole.update(piece)
        const expected = whole.copy().digest("hex")
        assert.strictEqual(native.hex(), expected)
        assert.strictEqual(portable.hex(), expected)
      }
    })
)

const live = Layer.unwrap(
  Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) => AssemblyNode.layer({ baseUrl, ...credentials }))
).pipe(Layer.provideMerge(Emulator.layer()))

const params = {
  steps: {
    ":original": { robot: "/upload/handle" },
    stored: { use: ":original", robot: "/transloadit/store", path: "a.bin" }
  }
}

layer(live)("AssemblyNode", (it) => {
  it.effect("proves and brings back a file whose pieces reuse memory, although connections break", function* () {
    const fs = yield* FileSystem.FileSystem
    const faults = yield* Faults.Faults
    const folder = yield* fs.makeTempDirectoryScoped()
    const bytes = new Uint8Array(
      Uint32Array.from({ length: 4 * mebi }, (_, index) => Math.imul(index, 2654435761)).buffer
    )
    const path = `${folder}/a.bin`
    yield* fs.writeFile(path, bytes)

    yield* faults.inject(Faults.Fault.CutRequestBody({ method: "PATCH", afterBytes: 6 * mebi }))
    const status = yield* AssemblyUpload.run({
      params,
      files: [{ source: UploadSource.fromPath(path), filename: "a.bin" }],
      upload: { retryDelay: "1 millis" },
      wait: { interval: "10 millis" },
      verify: DeliveryProof.md5
    })

    yield* faults.inject(Faults.Fault.CutAnswer({ path: "/results/:versionId/:filename", afterBytes: 5 * mebi }))
    const [file = {}] = Results.of(status).get("stored") ?? []
    const saved = yield* Results.save(file, `${folder}/b.bin`)
    const sha256 = (content: Uint8Array) => createHash("sha256").update(content).digest("hex")
    assert.strictEqual(sha256(yield* fs.readFile(saved.path)), sha256(bytes))
  })
})
