/**
 * The same `assembly upload` again while the service is gone, and Ctrl-C in each phase of an upload.
 */
import { Emulator, Faults } from "@assembly-effect/emulator"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, Layer } from "effect"
import { content } from "./support/resources.ts"
import * as Uploading from "./support/uploading.ts"

const live = Layer.mergeAll(
  Emulator.layer({ templates: [{ id: "my-template", name: "hashes", content }] }),
  NodeServices.layer
)

/** Interrupts an upload after the creation of its Assembly. */
const interrupted = (cwd: string, args: ReadonlyArray<string> = []) =>
  Uploading.upload(cwd, ["--limit-rate", "20k", ...args, "a.bin"], Uploading.quitAt(Uploading.created))

const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1) ?? ""

const kept = "assembly: the upload is kept; run the same command again to continue it"

/** A service behind a proxy that has lost it. */
const gone = Faults.Fault.Refuse({ method: "GET", times: 1000, status: 503, body: "<h1>gone</h1>" })

layer(live)("a continued assembly upload", (it) => {
  it.effect.each([
    ["does not answer", Faults.Fault.LoseAnswer({ method: "GET", times: 1000 }), [], "Assemblies"],
    ["knows the id of a Template, and is gone behind a proxy", gone, ["--template", "hashes"], "Templates"]
  ] as const)("waits for a service that %s, and says why", function* ([, fault, args, resource]) {
    const folder = yield* Uploading.folderWith(Uploading.large)
    const faults = yield* Faults.Faults
    expect(lastLine((yield* interrupted(folder, args)).stderr)).toBe(kept)
    yield* faults.inject(fault)
    const again = yield* Uploading.upload(folder, [...args, "a.bin"], {
      onError: (text) => {
        if (text.includes("Waiting: ")) Effect.runSync(faults.clear)
      }
    })
    yield* faults.clear
    expect(again.stderr).toMatch(new RegExp(String.raw`^a\.bin: Waiting: ${resource}\.get: `))
    expect(again.stderr).toMatch(/\na\.bin: Continuing Assembly /)
    expect(again.code).toBe(0)
  })

  it.effect("says after Ctrl-C that the upload is kept, while the service is gone", function* () {
    const folder = yield* Uploading.folderWith(Uploading.large)
    const faults = yield* Faults.Faults
    yield* interrupted(folder)
    yield* faults.inject(gone)
    const again = yield* Uploading.upload(folder, ["a.bin"], Uploading.quitAt(/Waiting: /))
    yield* faults.clear
    expect(again).toMatchObject({ code: 130, stdout: "" })
    expect(lastLine(again.stderr)).toBe(kept)
  })

  it.effect("says after Ctrl-C that all files are uploaded, and the same command waits for the results", function* () {
    const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
    const faults = yield* Faults.Faults
    yield* faults.inject(gone)
    const first = yield* Uploading.upload(folder, ["a.txt"], Uploading.quitAt(/Waiting: /))
    yield* faults.clear
    expect(first).toMatchObject({ code: 130, stdout: "" })
    expect(lastLine(first.stderr)).toBe(
      "assembly: all files are uploaded, and their Assembly continues; run the same command again to wait for its results"
    )
    expect(yield* Uploading.upload(folder, ["a.txt"])).toMatchObject({ code: 0 })
  })

  it.effect("says after Ctrl-C how to continue an upload that --restart began", function* () {
    const folder = yield* Uploading.folderWith(Uploading.large)
    const args = ["--restart", "--limit-rate", "20k", "a.bin"]
    const { code, stderr } = yield* Uploading.upload(folder, args, Uploading.quitAt(Uploading.created))
    expect(code).toBe(130)
    expect(lastLine(stderr)).toBe(
      "assembly: the upload is kept; run the same command again without --restart to continue it"
    )
  })

  it.effect("says after Ctrl-C before the creation of the Assembly that nothing was sent", function* () {
    const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
    const faults = yield* Faults.Faults
    yield* faults.inject(Faults.Fault.Delay({ method: "POST", times: 1000, duration: "1 minute" }))
    const { code, stderr } = yield* Uploading.upload(folder, ["a.txt"], Uploading.quitAt(/Waiting for /))
    yield* faults.clear
    expect(code).toBe(130)
    // The progress writes the line, because another writer would write it into the progress.
    expect(stderr).toMatch(
      /^a\.txt: Waiting for 127\.0\.0\.1:\d+ …\nassembly: interrupted before a file was sent; run the same command again\n$/
    )
  })
})
