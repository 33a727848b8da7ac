/**
 * Runs `assembly upload`: the parts that need no process of their own; `uploadProcess.all.test.ts` has the others.
 */
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Effect, Fiber, FileSystem, Queue } from "effect"
import * as InProcess from "./support/inProcess.ts"
import * as Processes from "./support/processes.ts"
import * as Uploading from "./support/uploading.ts"

/** Runs the command line in this process. */
const assembly = Effect.fnUntraced(function* (
  cwd: string,
  args: ReadonlyArray<string>,
  { env }: { readonly env?: Readonly<Record<string, string>> } = {}
) {
  const given = { ...(yield* Processes.environment), XDG_STATE_HOME: `${cwd}/.state`, ...env }
  return yield* InProcess.assembly(cwd, given, args)
})

/** Runs `assembly upload` in a folder. */
const run = (cwd: string, args: ReadonlyArray<string>, options?: Parameters<typeof assembly>[2]) =>
  assembly(cwd, ["upload", ...args], options)

const parseLines = (text: string): ReadonlyArray<Record<string, unknown>> =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)

layer(Uploading.live)("assembly upload", (it) => {
  it.effect("prints with --no-wait only the id, whose results the same command shows later", function* () {
    const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
    const { code, stdout } = yield* run(folder, ["--no-wait", "a.txt"])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^[0-9a-f]{32}\n$/) })
    yield* assembly(folder, ["wait", stdout.trim()])
    expect((yield* assembly(folder, ["uploads"])).stdout).toBe("no unfinished uploads\n")
    const again = yield* run(folder, ["a.txt"])
    expect(again.stdout).toContain(`Assembly ${stdout.trim()}\n`)
  })

  it.effect(
    "goes on with --watch as files come and change, and skips in the next command what it has uploaded",
    function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* Uploading.folderWith({ "in/a.txt": "1", "in/no.log": "2" })
      /** Watches until the output has all these lines; before each, `edit` changes a file. */
      const watch = (edits: ReadonlyArray<readonly [edit: Effect.Effect<unknown, unknown>, line: RegExp]>) =>
        Effect.gen(function* () {
          const command = ["upload", "-r", "in", "--watch", "--exclude", "*.log", "-o", "out", "--overwrite"]
          const shown = yield* Queue.unbounded<string>()
          const running = yield* Effect.forkChild(
            Uploading.assembly(folder, command, { onOutput: (text) => void Queue.offerUnsafe(shown, text) })
          )
          let text = ""
          for (const [edit, line] of edits) {
            yield* edit
            while (!line.test(text)) text = yield* Queue.take(shown)
          }
          yield* Fiber.interrupt(running)
          return text
        })
      const first = yield* watch([
        [Effect.void, /^out\/in\/a\.txt/m],
        [fs.writeFileString(`${folder}/in/b.txt`, "3"), /^out\/in\/b\.txt \(1 B\)/m],
        [fs.writeFileString(`${folder}/in/b.txt`, "4444"), /^out\/in\/b\.txt \(4 B\)/m]
      ])
      expect(first.match(/^in\/.*/gm)).toEqual(
        ["in/a.txt", "in/b.txt", "in/b.txt"].map((name) => `${name}: completed, 1 result`)
      )
      expect(yield* fs.readFileString(`${folder}/out/in/b.txt`)).toBe("4444")
      const second = yield* watch([
        [Effect.void, /^out\/in\/b\.txt is there already\n[^]*out\/in\/a|out\/in\/a[^]*out\/in\/b/m]
      ])
      expect(second).not.toContain("completed")
      expect(second.match(/uploaded before/g)).toHaveLength(2)
    }
  )

  it.effect(
    "ends with the exit code 3 and one message if the service refuses the credentials of --watch",
    function* () {
      const folder = yield* Uploading.folderWith({ "in/a.txt": "1", "in/b.txt": "2" })
      const ends = Uploading.quitAt(/INVALID_SIGNATURE[^]*INVALID_SIGNATURE/)
      const options = { env: { ASSEMBLY_AUTH_SECRET: "wrong" }, ...ends }
      const { code, stderr, stdout } = yield* Uploading.upload(folder, ["-r", "in", "--watch"], options)
      expect({ code, stdout }).toEqual({ code: 3, stdout: "" })
      expect(stderr.match(/INVALID_SIGNATURE/g)).toHaveLength(1)
    }
  )

  it.effect("writes one line for many files", function* () {
    const names = Array.from({ length: 24 }, (_, index) => `many/${index}.txt`)
    const folder = yield* Uploading.folderWith(Object.fromEntries(names.map((name) => [name, "meow"])))
    const { code, stderr, stdout } = yield* run(folder, ["many/*.txt"])
    expect(code).toBe(0)
    expect(stderr).toMatch(/\n24 files: 100% \(96 B of 96 B\), /)
    expect(stdout).toMatch(/^24 files, 96 B, in [\d.]+ s, 24 results\nAssembly [0-9a-f]{32}\n$/)
  })

  it.effect("ends with 0 although the service stores the decomposed name e\u0301.txt in NFC", function* () {
    const folder = yield* Uploading.folderWith({ "e\u0301.txt": "meow" })
    const { code, stderr, stdout } = yield* run(folder, ["--path", "decomposed", "e\u0301.txt"])
    expect(code, stderr).toBe(0)
    expect(stdout).toContain("decomposed/\u00e9.txt")
  })

  it.effect("uploads the standard input with fields, and prints its events as lines of JSON", function* () {
    // The command checks the standard input of its process.
    const folder = yield* Uploading.folderWith({})
    const args = ["--name", "hello.txt", "--fields", "a=b", "--fields", "c=d", "--json", "-"]
    const { code, stderr, stdout } = yield* Uploading.spawned(folder, ["upload", ...args], { input: "hello" })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const events = parseLines(stdout)
    expect(events[0]).toMatchObject({ event: "AssemblyCreated", assembly_id: expect.stringMatching(/^[0-9a-f]{32}$/) })
    expect(events).toContainEqual({ event: "FileCompleted", name: "hello.txt", file: 0, length: 5 })
    expect(events.at(-1)).toMatchObject({
      event: "Completed",
      assembly_id: events[0]?.["assembly_id"],
      status: { results: { stored: [{ path: "hello.txt", size: 5 }] } }
    })
  })
})
