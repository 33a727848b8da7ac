/** Walks over the options that all uploads of a program share. `Options.test.ts` has those of one upload. */
import { AssemblyClient } from "@assembly-effect/api"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import { AssemblyUpload, Upload, UploadSource } from "@assembly-effect/tus"
import { assert, layerTest } from "@assembly-effect/testkit/flow"
import { Effect, Layer, Stream } from "effect"
import { FetchHttpClient } from "effect/http"

const services = AssemblyUpload.layer.pipe(
  Layer.provideMerge(Layer.merge(AssemblyClient.layerTest([]), FetchHttpClient.layer))
)

const all: ReadonlyArray<HostileOptions.Entry<Layer.Success<typeof services>>> = [
  {
    name: "Upload.layerBandwidth",
    options: ["bytesPerSecond"],
    build: (options) => Layer.build(Upload.layerBandwidth({ bytesPerSecond: 1, ...options }))
  },
  {
    name: "AssemblyUpload.runAll",
    options: ["assemblies", "uploads"],
    build: (options) => Stream.runDrain(AssemblyUpload.runAll(Stream.empty, options))
  }
]

layerTest(services)("A hostile value of an option", (it) => {
  it.effect.each([null, undefined, NaN, true, 5n, "params", [], new Map([["steps", 1]]), () => 1])(
    "AssemblyUpload.run with the params %o: InvalidRequest",
    function* (params) {
      const job = { params, files: [{ source: UploadSource.fromBytes(new Uint8Array(1)), filename: "a.bin" }] }
      const error = yield* Effect.flip(AssemblyUpload.run(job as never))
      assert.strictEqual(error.message, "AssemblyUpload: params: Expected an object with keys")
    }
  )

  it.effect.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)
})
