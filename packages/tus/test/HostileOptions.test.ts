/** Walks over the options that all uploads of a program share. `Options.test.ts` has those of one upload. */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import * as AssemblyBatch from "@assembly-effect/tus/AssemblyBatch"
import * as UploadBandwidth from "@assembly-effect/tus/UploadBandwidth"
import { layer } from "@effect/vitest"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const services = Layer.merge(AssemblyClient.layerTest([]), FetchHttpClient.layer)

const all: ReadonlyArray<HostileOptions.Entry<Layer.Success<typeof services>>> = [
  {
    name: "UploadBandwidth.layer",
    options: ["bytesPerSecond"],
    build: (options) => Layer.build(UploadBandwidth.layer({ bytesPerSecond: 1, ...options }))
  },
  {
    name: "AssemblyBatch.run",
    options: ["assemblies", "uploads"],
    build: (options) => Stream.runDrain(AssemblyBatch.run(Stream.empty, options))
  }
]

layer(services)("A hostile value of an option", (it) => {
  it.effect.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)
})
