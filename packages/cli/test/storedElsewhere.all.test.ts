/** `assembly upload` compares the paths at which the service has stored its files with the paths that it asked for. */
import { Faults } from "@assembly-effect/emulator"
import { assert, expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import * as Uploading from "./support/uploading.ts"

const idIn = (text: string) => Uploading.created.exec(text)?.[1]

layer(Uploading.live)("stored files", (it) => {
  it.effect("an upload fails if the service has stored a file under another path, and names the file", function* () {
    const faults = yield* Faults.Faults
    const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(25_000) })
    const args = ["upload", "--limit-rate", "100k", "--path", "backup", "a.bin"]
    const first = yield* Uploading.assembly(folder, args)
    const before = idIn(first.stdout)
    assert(before !== undefined)
    const status = yield* Uploading.statusOf(before)
    assert(status.includes(`"backup/a.bin"`))

    // The second Assembly ends as the first one has ended, but with another path.
    let isMoved = false
    const { code, stderr, stdout } = yield* Uploading.assembly(folder, [...args, "--restart"], {
      onError: (text) => {
        const id = idIn(text)
        if (isMoved || id === undefined) return
        isMoved = true
        const body = status.replaceAll(before, id).replaceAll(`"backup/a.bin"`, `"backup/a-2.bin"`)
        const answer = Faults.Fault.Refuse({ method: "GET", path: `/assemblies/${id}`, times: 1000, status: 200, body })
        Effect.runSync(faults.inject(answer))
      }
    })
    yield* faults.clear
    expect({ code, last: stderr.trimEnd().split("\n").at(-1) }).toEqual({
      code: 1,
      last: "assembly: the service stored 1 of 1 files under another path than expected, such as backup/a.bin; the table and --json show the paths"
    })
    expect(stdout).toContain("backup/a-2.bin")
  })
})
