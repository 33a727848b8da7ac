/**
 * The commands that read and control one Assembly, against the emulator.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import { cancel, get, replay, results, wait, watch } from "../src/commands/assemblies.ts"
import { list } from "../src/commands/list.ts"
import { upload } from "../src/commands/upload.ts"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as UploadSource from "@assembly-effect/tus/UploadSource"
import * as Client from "@assembly-effect/testkit/emulator/Client"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as TestConsole from "effect/testing/TestConsole"
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

const stored = {
  ":original": { robot: "/upload/handle" },
  stored: { robot: "/transloadit/store", use: ":original" }
}

/** An Assembly with two stored files: a.txt and b.txt. */
const uploaded = AssemblyUpload.run({
  params: { steps: stored },
  files: ["a.txt", "b.txt"].map((filename) => ({
    source: UploadSource.fromBytes(new TextEncoder().encode(`content of ${filename}`)),
    filename
  }))
})

const failing = Assemblies.create({ steps: { fail: { robot: "/emulator/fail", error: "NO_COUNTRY" } } })
const waiting = Assemblies.create({ numExpectedUploadFiles: 1 })

layer(services)("the commands of one Assembly", (it) => {
  it.effect("get shows the Status and the results", function* () {
    const { assembly_id: id } = yield* uploaded
    const text = yield* printed(Service.run(get, [id]))
    expect(text).toMatch(new RegExp(`^Assembly +${id}$`, "m"))
    expect(text).toMatch(/^State +completed$/m)
    expect(text).toMatch(/^Files +2 of 2$/m)
    expect(text).toMatch(/^stored\ta\.txt\t16 B\t\S{22}$/m)
    const json: unknown = JSON.parse(yield* printed(Service.run(get, ["--json", id])))
    expect(json).toMatchObject({ assembly_id: id, ok: "ASSEMBLY_COMPLETED" })
  })

  it.effect("get shows the error of an Assembly that failed", function* () {
    const { assembly_id: id } = yield* failing
    yield* Effect.ignore(Assemblies.awaitCompletion(id, { interval: "10 millis" }))
    expect(yield* printed(Service.run(get, [id]))).toMatch(/^State +failed\nError +NO_COUNTRY$/m)
  })

  it.effect("wait prints each end, and fails if one of several Assemblies did not complete", function* () {
    const [one, two] = yield* Effect.all([uploaded, failing])
    expect(yield* printed(Service.run(wait, [one.assembly_id]))).toBe(`${one.assembly_id}  completed, 2 results`)
    const error = yield* Effect.flip(Service.run(wait, [one.assembly_id, two.assembly_id]))
    expect(error).toMatchObject({
      message: "1 of 2 Assemblies did not complete",
      causes: [{ _tag: "AssemblyFailed" }]
    })
    expect((yield* TestConsole.errorLines).at(-1)).toMatch(
      new RegExp(`^assembly: Assembly ${two.assembly_id} failed with NO_COUNTRY`)
    )
    expect(yield* Effect.flip(Service.run(wait, [two.assembly_id]))).toMatchObject({ _tag: "AssemblyFailed" })
  })

  it.effect("wait ends after its timeout, and names the Assembly", function* () {
    const { assembly_id: id } = yield* waiting
    const error = yield* Effect.flip(Service.run(wait, ["--timeout", "1s", id]))
    expect(error).toMatchObject({
      message: `the Assembly ${id} has not ended after 1 s; --timeout waits longer`
    })
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

  it.effect("replay prints the id of the new Assembly, with changed Steps from a file", function* () {
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* fs.makeTempDirectoryScoped()}/steps.json`
    yield* fs.writeFileString(file, JSON.stringify({ hashed: { robot: "/file/hash", use: ":original" } }))
    const { assembly_id: id } = yield* uploaded
    const text = yield* printed(Service.run(replay, ["--steps", file, "--wait", id]))
    const [, replayed = ""] = /^replayed as ([0-9a-f]{32})\ncompleted, 4 results$/.exec(text) ?? []
    expect(replayed).not.toBe(id)
    const status = yield* Assemblies.get(Assembly.AssemblyId.make(replayed))
    expect(Object.keys(status.results ?? {})).toContain("hashed")
    // The same Steps as in a Template.
    yield* fs.writeFileString(file, JSON.stringify({ steps: { hashed: { robot: "/file/hash", use: ":original" } } }))
    expect(yield* printed(Service.run(replay, ["--steps", file, "--wait", id]))).toContain("4 results")
  })

  it.effect("upload and replay take fields as pairs and from a file, and no field from both", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const file = `${folder}/fields.json`
    yield* fs.writeFileString(file, JSON.stringify({ year: 2026, tags: ["a"] }))
    yield* fs.writeFileString(`${folder}/a.txt`, "hello")
    const { assembly_id: id } = yield* uploaded
    const text = yield* printed(Service.run(replay, ["--fields", "a=b", "--fields-file", file, "--wait", id]))
    const [, replayed = ""] = /^replayed as ([0-9a-f]{32})\n/.exec(text) ?? []
    const fieldsOf = ({ fields }: Assembly.Status) => fields
    expect(fieldsOf(yield* Assemblies.get(Assembly.AssemblyId.make(replayed)))).toEqual({
      year: 2026,
      tags: ["a"],
      a: "b"
    })

    const files = [`${folder}/a.txt`, "--journal", `${folder}/journal`]
    const sent = yield* printed(Service.run(upload, ["--fields-file", file, "--fields", "a=b", ...files]))
    const [, created = ""] = /Assembly ([0-9a-f]{32})/.exec(sent) ?? []
    expect(fieldsOf(yield* Assemblies.get(Assembly.AssemblyId.make(created)))).toEqual({
      year: 2026,
      tags: ["a"],
      a: "b"
    })

    const twice = ["--fields", "year=2025", "--fields-file", file]
    const refusal = { message: `${file}: the field year has another value in --fields` }
    expect(yield* Effect.flip(Service.run(replay, [...twice, id]))).toMatchObject(refusal)
    expect(yield* Effect.flip(Service.run(upload, [...twice, ...files]))).toMatchObject(refusal)
  })

  it.effect(
    "results download saves what is exported, keeps what is there, and overwrites nothing unasked",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = `${yield* fs.makeTempDirectoryScoped()}/out`
      const { assembly_id: id } = yield* uploaded
      const download = (...flags: ReadonlyArray<string>) =>
        printed(Service.run(results, ["download", "--concurrency", "1", "-o", folder, ...flags, id]))

      expect((yield* download()).split("\n")).toEqual([`${folder}/a.txt (16 B)`, `${folder}/b.txt (16 B)`])
      expect((yield* TestConsole.errorLines).filter((line) => String(line).startsWith("left out"))).toEqual([])
      expect(yield* fs.readFileString(`${folder}/b.txt`)).toBe("content of b.txt")
      yield* fs.remove(`${folder}/a.txt`)
      expect((yield* download()).split("\n")).toEqual([`${folder}/a.txt (16 B)`, `${folder}/b.txt is there already`])

      yield* fs.remove(`${folder}/a.txt`)
      yield* fs.writeFileString(`${folder}/b.txt`, "content of mine.")
      expect(yield* Effect.flip(download())).toMatchObject({
        message: `${folder}/b.txt exists and is another file; --overwrite replaces it, --output names another folder`
      })
      expect(yield* fs.readDirectory(folder)).toEqual(["b.txt"])
      yield* download("--overwrite")
      expect(yield* fs.readFileString(`${folder}/b.txt`)).toBe("content of b.txt")

      // A file that cannot be saved does not keep the others from being saved.
      for (const name of ["a.txt", "b.txt"]) yield* fs.remove(`${folder}/${name}`)
      yield* fs.makeDirectory(`${folder}/a.txt`)
      expect(yield* Effect.flip(download("--overwrite"))).toMatchObject({ _tag: "SaveFailed", path: `${folder}/a.txt` })
      expect(yield* fs.readFileString(`${folder}/b.txt`)).toBe("content of b.txt")
      yield* fs.remove(`${folder}/a.txt`, { recursive: true })

      expect(yield* download("--step", ":original", "--step", "stored")).toContain(`${folder}/_original/a.txt (16 B)`)
    }
  )

  it.effect("results of an Assembly that is still running are refused", function* () {
    const { assembly_id: id } = yield* waiting
    expect(yield* Effect.flip(Service.run(results, ["download", id]))).toMatchObject({
      message: `the Assembly ${id} is still running`
    })
    expect(yield* printed(Service.run(results, ["list", id]))).toBe("")
  })

  it.effect("list --all prints every Assembly once, over all pages", function* () {
    yield* Effect.all([waiting, waiting, waiting])
    const everything = yield* printed(Service.run(list, ["--all", "--json"]))
    const ids = everything.split("\n").map((line) => (JSON.parse(line) as { readonly id: string }).id)
    assert.isAtLeast(ids.length, 5)
    const small = yield* printed(Service.run(list, ["--all", "--json", "--limit", "2"]))
    expect(small).toBe(everything)
    const table = yield* printed(Service.run(list, ["--all", "--limit", "2"]))
    expect(table.split("\n").map((line) => line.slice(0, 32))).toEqual(ids)
  })

  it.effect(
    "results download follows no link at any depth below its folder, and says in JSON what it saved",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const top = yield* fs.makeTempDirectoryScoped()
      const { assembly_id: id } = yield* AssemblyUpload.run({
        params: {
          steps: { ...stored, stored: { ...stored.stored, path: "deep/below/${file.name}" } }
        },
        files: [{ source: UploadSource.fromBytes(new TextEncoder().encode("mine")), filename: "a.txt" }]
      })
      const download = (...flags: ReadonlyArray<string>) =>
        printed(Service.run(results, ["download", "-o", `${top}/out`, ...flags, id]))

      yield* fs.makeDirectory(`${top}/elsewhere`)
      yield* fs.makeDirectory(`${top}/out/deep`, { recursive: true })
      yield* fs.symlink(`${top}/elsewhere`, `${top}/out/deep/below`)
      expect(yield* Effect.flip(download("--overwrite"))).toMatchObject({
        message: expect.stringContaining(`${top}/out/deep/below leads outside of ${top}/out by a link`)
      })
      expect(yield* fs.readDirectory(`${top}/elsewhere`)).toEqual([])

      yield* fs.remove(`${top}/out/deep/below`)
      const path = `${top}/out/deep/below/a.txt`
      const record = { step: "stored", path, size: 4 }
      expect(JSON.parse(yield* download("--json"))).toEqual({ event: "Downloaded", ...record })
      expect(JSON.parse(yield* download("--json"))).toEqual({ event: "AlreadyThere", ...record })
    }
  )
})
