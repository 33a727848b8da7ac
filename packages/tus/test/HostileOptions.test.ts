/** Walks over the options that all uploads of a program share. `Options.test.ts` has those of one upload. */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as HostileOptions from "@assembly-effect/testkit/hostile/HostileOptions"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as Upload from "@assembly-effect/tus/Upload"
import { layer } from "@effect/vitest"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

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

layer(services)("A hostile value of an option", (it) => {
  it.effect.each(HostileOptions.cases(all))(HostileOptions.title, HostileOptions.walk)
})
