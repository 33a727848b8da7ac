/**
 * The commands that read and control one Assembly, against the emulator.
 */
import { Assemblies } from "@assembly-effect/api"
import { cancel, results, wait, watch } from "../src/commands/assemblies.ts"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { AssemblyUpload, UploadSource } from "@assembly-effect/tus"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, Fiber, Layer } from "effect"
import { TestConsole } from "effect/testing"
import * as Service from "./support/service.ts"

const services = AssemblyUpload.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Client.signed(), TestConsole.layer)),
  Layer.provideMerge([Emulator.layer(), NodeHttpClient.layerUndici, NodeServices.layer])
)

/** What a command has printed. */
const printed = <A, E, R>(command: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = (yield* TestConsole.logLines).length
    yield* command
    return (yield* TestConsole.logLines).slice(before).join("\n")
  })

const stored = { ":original": { robot: "/upload/handle" }, stored: { robot: "/transloadit/store", use: ":original" } }

/** An Assembly with two stored files: a.txt and b.txt. */
const uploaded = AssemblyUpload.run({
  params: { steps: stored },
  files: ["a.txt", "b.txt"].map((filename) => ({
    source: UploadSource.fromBytes(new TextEncoder().encode(`content of ${filename}`)),
    filename
  }))
})

const waiting = Assemblies.create({ numExpectedUploadFiles: 1 })

layer(services)("the commands of one Assembly", (it) => {
  it.effect("wait ends after its timeout, and names the Assembly", function* () {
    const { assembly_id: id } = yield* waiting
    const error = yield* Effect.flip(Service.run(wait, ["--timeout", "1s", id]))
    expect(error).toMatchObject({ message: `the Assembly ${id} has not ended after 1 s; --timeout waits longer` })
  })

  it.effect("watch prints the changes, and fails if the Assembly is canceled", function* () {
    const { assembly_id: id } = yield* waiting
    const before = (yield* TestConsole.logLines).length
    const lines = Effect.map(TestConsole.logLines, (all) => all.slice(before).map(String))
    const watching = yield* Effect.forkChild(Effect.flip(Service.run(watch, [id])))
    yield* Effect.repeat(Effect.andThen(Effect.yieldNow, lines), { until: (all) => all.length === 1 })
    yield* Assemblies.cancel(id)
    expect(yield* Fiber.join(watching)).toMatchObject({ _tag: "AssemblyCanceled" })
    const [first, last, ...others] = yield* lines
    expect(first).toMatch(/^\d\d:\d\d:\d\d {2}uploading, 0 of 1 files, 0 B received$/)
    expect(last).toMatch(/^\d\d:\d\d:\d\d {2}canceled$/)
    expect(others).toEqual([])
  })

  it.effect("cancel stops an Assembly, and says if it had ended before", function* () {
    const { assembly_id: id } = yield* waiting
    const { assembly_id: ended } = yield* uploaded
    expect(yield* printed(Service.run(cancel, [id, ended]))).toBe(
      `canceled ${id}\n${ended} had ended before: completed`
    )
    expect(Assembly.state(yield* Assemblies.get(id))).toBe("Canceled")
  })

  it.effect("results of an Assembly that is still running are refused", function* () {
    const { assembly_id: id } = yield* waiting
    expect(yield* Effect.flip(Service.run(results, ["download", id]))).toMatchObject({
      message: `the Assembly ${id} is still running`
    })
    expect(yield* printed(Service.run(results, ["list", id]))).toBe("")
  })
})
