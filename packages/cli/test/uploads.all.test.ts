/**
 * `assembly uploads` lists what an interrupted `assembly upload` has left, and forgets it.
 */
import { Emulator, Faults } from "@assembly-effect/emulator"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { DateTime, Effect, FileSystem } from "effect"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Uploading from "./support/uploading.ts"

/** Interrupts an upload when a part of its bytes is stored. Returns the id of its Assembly. */
const interrupted = (cwd: string, ...args: ReadonlyArray<string>) =>
  Effect.map(Uploading.interrupted(cwd, ["--restart", "--limit-rate", "200k", ...args], / \d0% /), ({ id }) => id)

/** A server that is not the service of the uploads, and its requests. */
const foreign = Effect.gen(function* () {
  const requests: Array<string> = []
  const origin = yield* Loopback.serve((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.writeHead(404, { "content-type": "application/json" }).end(`{"error":"ASSEMBLY_NOT_FOUND"}`)
  })
  return { origin, requests }
})

const list = (cwd: string, ...args: ReadonlyArray<string>) => Uploading.assembly(cwd, ["uploads", ...args])

layer(Uploading.live)("assembly uploads", (it) => {
  it.effect("lists an upload with the command that continues it, until the upload is complete", function* () {
    const folder = yield* Uploading.folderWith({ "it's a.bin": "meow".repeat(100_000), "b.txt": "meow" })
    expect(yield* list(folder)).toEqual({ code: 0, stdout: "no unfinished uploads\n", stderr: "" })
    // A list creates no folder.
    expect(yield* (yield* FileSystem.FileSystem).exists(`${folder}/.state`)).toBe(false)
    const id = yield* interrupted(folder, "--fields", "a=b c", "it's a.bin")
    yield* Uploading.assembly(folder, ["upload", "b.txt"])

    const { code, stdout } = yield* list(folder)
    expect(code).toBe(0)
    const lines = stdout.trimEnd().split("\n")
    expect(lines).toEqual([
      "Files     it's a.bin",
      `Assembly  ${id}`,
      "State     uploading",
      expect.stringMatching(/^Received {2}[\d.]+ \w+ of 390\.6 KiB$/),
      expect.stringMatching(/^Age {7}\d+s$/),
      `Continue  cd ${folder} && assembly upload --limit-rate 200k --fields 'a=b c' 'it'\\''s a.bin'`
    ])
    const status = yield* Uploading.statusOf(id)
    const [receipt] = (JSON.parse(status) as { readonly tus_uploads: ReadonlyArray<{ readonly offset: number }> })
      .tus_uploads
    const json = yield* list(folder, "--json")
    expect(JSON.parse(json.stdout)).toEqual({
      assembly_id: id,
      state: "uploading",
      names: ["it's a.bin"],
      files: 1,
      size: 400_000,
      stored: receipt?.offset,
      started_at: expect.stringMatching(/^\d{4}-/),
      folder,
      command: ["assembly", "upload", "--limit-rate", "200k", "--fields", "a=b c", "it's a.bin"]
    })

    const again = yield* Uploading.assembly(folder, ["upload", "--fields", "a=b c", "it's a.bin"])
    expect(again.stderr).toContain(`Continuing Assembly ${id}`)
    expect((yield* list(folder)).stdout).toBe("no unfinished uploads\n")
  })

  it.effect(
    "lists an upload while the service does not answer, and says that what is stored is not known",
    function* () {
      const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(100_000) })
      const id = yield* interrupted(folder, "a.bin")
      const faults = yield* Faults.Faults
      yield* faults.inject(Faults.Fault.Delay({ method: "GET", times: 1000, duration: "1 minute" }))
      const { code, stdout } = yield* list(folder)
      yield* faults.clear
      expect(code).toBe(0)
      expect(stdout).toContain(
        `Assembly  ${id}\nState     not known: no answer within 5 seconds\nReceived  – of 390.6 KiB\n`
      )
      const cannot = yield* Effect.andThen(
        faults.inject(Faults.Fault.Refuse({ method: "DELETE", times: 1000, status: 400 })),
        list(folder, "forget", id)
      )
      yield* faults.clear
      expect(cannot).toMatchObject({ code: 1, stdout: "" })
      // What is not canceled is not forgotten.
      expect((yield* list(folder)).stdout).toContain(id)
    }
  )

  it.effect(
    "forgets an upload and cancels its Assembly, so that the same command uploads everything again",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(100_000) })
      const id = yield* interrupted(folder, "a.bin")
      expect(yield* list(folder, "forget", id)).toEqual({
        code: 0,
        stdout: `forgot the upload, and canceled ${id}\n`,
        stderr: ""
      })
      expect(JSON.parse(yield* Uploading.statusOf(id))).toMatchObject({ ok: "ASSEMBLY_CANCELED" })
      expect((yield* list(folder)).stdout).toBe("no unfinished uploads\n")
      // Neither the memory of the command nor the upload of the file is left.
      const left = yield* fs.readDirectory(`${folder}/.state/assembly/uploads`, { recursive: true })
      expect(left.filter((name) => name.endsWith(".json") || name.startsWith("commands/"))).toEqual([])
      expect(yield* list(folder, "forget", id)).toEqual({
        code: 1,
        stdout: "",
        stderr: `assembly: there is no unfinished upload ${id}\nRun assembly uploads to see what there is.\n`
      })
      const again = yield* Uploading.assembly(folder, ["upload", "a.bin"])
      expect(again.code).toBe(0)
      expect(again.stdout).not.toContain(id)
    }
  )

  it.effect(
    "keeps an upload while the same files are uploaded to another path, and only its owner can read it",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(100_000) })
      const id = yield* interrupted(folder, "a.bin")
      const commands = `${folder}/.state/assembly/uploads/commands`
      const [name = ""] = yield* fs.readDirectory(commands)
      expect((yield* fs.stat(`${commands}/${name}`)).mode & 0o777).toBe(0o600)
      const other = yield* Uploading.assembly(folder, ["upload", "--path", "other", "a.bin"])
      expect(other.code).toBe(0)
      expect(other.stderr).not.toContain(id)
      expect((yield* list(folder)).stdout).toContain(`Assembly  ${id}\nState     uploading\n`)
    }
  )

  it.effect("forgets no upload that another process runs", function* () {
    const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(100_000) })
    let refused: { readonly code: number | null; readonly stderr: string } | undefined
    const run = yield* Effect.context<Emulator.Emulator>()
    let isAsked = false
    yield* Uploading.assembly(folder, ["upload", "--limit-rate", "20k", "a.bin"], {
      onError: (text, kill) => {
        const [, id] = /Assembly ([0-9a-f]{32})\n/.exec(text) ?? []
        if (isAsked || id === undefined) return
        isAsked = true
        const forget = Effect.map(list(folder, "forget", id), (found) => {
          refused = found
          kill()
        })
        void Effect.runPromiseWith(run)(forget)
      }
    })
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/: another process runs this upload; end that process first\n$/)
    })
  })

  it.effect(
    "forgets one of two uploads, also if the service no longer has it, and the other one goes on",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(100_000), "b.bin": "purr".repeat(100_000) })
      const begun = DateTime.formatIso(yield* DateTime.now)
      const gone = yield* interrupted(folder, "a.bin")
      const kept = yield* interrupted(folder, "b.bin")
      const order = [...(yield* list(folder)).stdout.matchAll(/^Assembly {2}(\w+)$/gm)].map(([, id]) => id)
      expect(order).toEqual([gone, kept])
      // Only the owner may even list the ids of the Assemblies.
      expect((yield* fs.stat(`${folder}/.state/assembly/uploads/commands`)).mode & 0o777).toBe(0o700)

      const faults = yield* Faults.Faults
      yield* faults.inject(Faults.Fault.Refuse({ path: `/assemblies/${gone}`, times: 1000, status: 404 }))
      const listed = yield* list(folder)
      const records = (yield* list(folder, "--json")).stdout.trimEnd().split("\n")
      const forgotten = yield* list(folder, "forget", gone)
      yield* faults.clear
      expect(listed.stdout).toContain(`Assembly  ${gone}\nState     the service has no such Assembly\nReceived  0 B of`)
      const record = JSON.parse(records[0] ?? "") as { readonly started_at: string }
      expect(record).toMatchObject({ assembly_id: gone, state: "gone", stored: 0 })
      expect(record.started_at > begun && record.started_at < DateTime.formatIso(yield* DateTime.now)).toBe(true)
      expect(forgotten).toEqual({
        code: 0,
        stdout: `forgot the upload; the service has no Assembly ${gone}\n`,
        stderr: ""
      })

      // The job and the file of the other upload are still in the journal.
      const left = yield* fs.readDirectory(`${folder}/.state/assembly/uploads`)
      expect(left.filter((name) => name.endsWith(".json"))).toHaveLength(2)

      const again = yield* Uploading.assembly(folder, ["upload", "b.bin"])
      expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining(`Continuing Assembly ${kept}`) })
    }
  )

  it.effect("forgets no upload into another service, and asks that service nothing", function* () {
    const folder = yield* Uploading.folderWith({ "a.bin": "meow".repeat(100_000) })
    const id = yield* interrupted(folder, "a.bin")
    const { baseUrl } = yield* Emulator.Emulator
    const { origin, requests } = yield* foreign
    const env = { ASSEMBLY_BASE_URL: origin }
    const { code, stderr, stdout } = yield* Uploading.assembly(folder, ["uploads", "forget", id], { env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toBe(`assembly: ${id}: ${baseUrl} has it, and ASSEMBLY_BASE_URL names another service\n`)
    expect(requests).toEqual([])
    expect((yield* Uploading.assembly(folder, ["uploads"])).stdout).toContain(`Assembly  ${id}\nState     uploading\n`)
  })

  it.effect("asks no other service about an upload, and its command names a file --restart", function* () {
    const folder = yield* Uploading.folderWith({ "--restart": "meow".repeat(100_000) })
    const id = yield* interrupted(folder, "--", "--restart")
    const { baseUrl } = yield* Emulator.Emulator
    const { origin, requests } = yield* foreign
    const { code, stdout } = yield* Uploading.assembly(folder, ["uploads"], { env: { ASSEMBLY_BASE_URL: origin } })
    expect(code).toBe(0)
    expect(stdout).toContain(
      `Assembly  ${id}\nState     not known: ${baseUrl} has it, and ASSEMBLY_BASE_URL names another service\n`
    )
    expect(requests).toEqual([])
    expect(stdout).toContain(`\nContinue  cd ${folder} && assembly upload --limit-rate 200k -- --restart\n`)
  })
})
