/**
 * Runs `assembly upload`: the parts that need no process of their own; `uploadProcess.all.test.ts` has the others.
 */
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Queue from "effect/Queue"
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
  it.effect("keeps folders apart with -r, stores them below --path, and separates progress from results", function* () {
    const folder = yield* Uploading.folderWith({ "d1/report.csv": "one", "d2/report.csv": "three" })
    const { code, stderr, stdout } = yield* run(folder, ["-r", "--path", "backup/2026", "d1", "d2"])
    expect(code).toBe(0)
    // The list for another program has tabs and no heading.
    expect(stdout).toMatch(
      /^Assembly [0-9a-f]{32}\nstored\tbackup\/2026\/d1\/report\.csv\t3 B\t.*\nstored\tbackup\/2026\/d2\/report\.csv\t5 B\t.*\n$/
    )
    expect(stdout).not.toContain("%")
    expect(stderr).toMatch(/\n2 files: 100% \(8 B of 8 B\), /)
    // Only a person at a terminal needs the next step.
    expect(stderr).not.toContain("Next: ")
    expect(yield* assembly(folder, ["uploads"])).toEqual({ code: 0, stdout: "no unfinished uploads\n", stderr: "" })
  })

  it.effect(
    "ends the lines of JSON with the failure and its exit code, which is the exit code of the command",
    function* () {
      const folder = yield* Uploading.folderWith({ "a.txt": "meow" })
      for (const [env, exit_code, message] of [
        [{ ASSEMBLY_AUTH_SECRET: "wrong" }, 3, /INVALID_SIGNATURE/],
        [{ ASSEMBLY_BASE_URL: "http://127.0.0.1:9" }, 4, /ECONNREFUSED/]
      ] as const) {
        const { code, stdout } = yield* run(folder, ["--json", "a.txt"], { env })
        expect(code).toBe(exit_code)
        expect(parseLines(stdout)).toEqual([
          { event: "Failed", message: expect.stringMatching(message) as unknown, exit_code }
        ])
      }
    }
  )

  it.effect("downloads the results into the folder of -o, also again, and overwrites nothing unasked", function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* Uploading.folderWith({ "a.txt": "meow", "z.txt": "purr" })
    const args = ["a.txt", "z.txt", "-o", "out"]
    const told = (stdout: string) => stdout.trimEnd().split("\n").slice(-2).toSorted()
    expect(told((yield* run(folder, args)).stdout)).toEqual(["out/a.txt (4 B)", "out/z.txt (4 B)"])
    expect(yield* fs.readFileString(`${folder}/out/z.txt`)).toBe("purr")
    yield* fs.remove(`${folder}/out/a.txt`)
    // A killed command has left these; another command may still write the second one.
    const left = [`.${"0".repeat(36)}.part`, `.${"1".repeat(36)}.part`]
    for (const name of left) yield* fs.writeFileString(`${folder}/out/${name}`, "me")
    yield* fs.utimes(`${folder}/out/${left[0]}`, 1, 1)
    const again = yield* run(folder, args)
    expect(again.stderr).toContain("no file was uploaded again")
    expect(told(again.stdout)).toEqual(["out/a.txt (4 B)", "out/z.txt is there already"])
    expect((yield* fs.readDirectory(`${folder}/out`)).toSorted()).toEqual([left[1], "a.txt", "z.txt"])
    yield* fs.writeFileString(`${folder}/out/z.txt`, "hiss")
    const refused = yield* run(folder, args)
    expect(refused).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("out/z.txt exists and is another file")
    })
    expect(told((yield* run(folder, [...args, "--overwrite"])).stdout)).toEqual([
      "out/a.txt is there already",
      "out/z.txt (4 B)"
    ])
  })

  it.effect("sends nothing if the folder of -o cannot be created", function* () {
    const folder = yield* Uploading.folderWith({ "a.txt": "meow", "d/b.txt": "purr" })
    const env = { ASSEMBLY_BASE_URL: "http://127.0.0.1:9" }
    for (const args of [["a.txt"], ["-r", "d", "--watch"]]) {
      expect(yield* run(folder, [...args, "-o", "a.txt/out"], { env })).toEqual({
        code: 1,
        stdout: "",
        stderr: expect.stringMatching(/^assembly: a\.txt\/out: .*; --output names another folder\n$/) as unknown
      })
    }
  })

  it.effect(
    "uploads what a list, --include and --exclude name, by each transport, with parts and a check",
    function* () {
      const folder = yield* Uploading.folderWith({
        "d/a.jpg": "1",
        "d/b.txt": "2",
        "d/c/e.jpg": "3",
        "x y.jpg": "4",
        list: "# photos\n\nx y.jpg\nd\n",
        list0: "x y.jpg\0d/b.txt\0"
      })
      for (const [args, names] of [
        [["-r", "d", "--include", "*.jpg", "--exclude", "/d/c/"], ["d/a.jpg"]],
        [
          ["-r", "--files-from", "list", "--include", "*.jpg", "--verify"],
          ["d/a.jpg", "d/c/e.jpg", "x y.jpg"]
        ],
        [
          ["--files-from", "list0", "--transport", "form"],
          ["b.txt", "x y.jpg"]
        ],
        [["d/a.jpg", "--parallel", "2", "--concurrency", "1"], ["a.jpg"]]
      ] as const) {
        const { code, stdout } = yield* run(folder, args)
        const stored = Array.from(stdout.matchAll(/^stored\t(.*?)\t\d B\t/gm), ([, name]) => name)
        expect({ args, code, stored }).toEqual({ args, code: 0, stored: names })
      }
    }
  )

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
    const { code, stdout } = yield* run(folder, ["many/*.txt"])
    expect(code).toBe(0)
    expect(stdout).toMatch(/^24 files, 96 B, in [\d.]+ s, 24 results\nAssembly [0-9a-f]{32}\n$/)
  })

  it.effect("uploads the standard input with fields, and prints its events as lines of JSON", function* () {
    // The command checks the standard input of its process.
    const folder = yield* Uploading.folderWith({})
    const args = ["--name", "hello.txt", "--fields", "a=b", "--fields", "c=d", "--json", "-"]
    const { code, stderr, stdout } = yield* Uploading.spawned(folder, ["upload", ...args], { input: "hello" })
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    const events = parseLines(stdout)
    expect(events[0]).toMatchObject({
      event: "AssemblyCreated",
      assembly_id: expect.stringMatching(/^[0-9a-f]{32}$/)
    })
    expect(events).toContainEqual({ event: "FileCompleted", name: "hello.txt", file: 0, length: 5 })
    expect(events.at(-1)).toMatchObject({
      event: "Completed",
      assembly_id: events[0]?.["assembly_id"],
      status: { results: { stored: [{ path: "hello.txt", size: 5 }] } }
    })
  })

  it.effect("shows with --dry-run what it would do, and creates nothing", function* () {
    const folder = yield* Uploading.folderWith({ "d1/a.txt": "12", "d1/b/c.txt": "345" })
    const shown = yield* run(folder, ["-r", "--dry-run", "--path", "/backup//", "d1"])
    expect(shown).toEqual({
      code: 0,
      stdout: "d1/a.txt\tbackup/d1/a.txt\t2 B\nd1/b/c.txt\tbackup/d1/b/c.txt\t3 B\n",
      stderr: "2 files, 5 B; nothing was uploaded\n"
    })
    const { stdout } = yield* run(folder, ["--dry-run", "--json", "--path", "backup", "d1/a.txt"])
    expect(parseLines(stdout)).toEqual([
      { event: "Planned", path: "d1/a.txt", name: "a.txt", target: "backup/a.txt", size: 2 }
    ])
    expect(yield* (yield* FileSystem.FileSystem).exists(`${folder}/.state`)).toBe(false)
  })

  it.effect("takes a word after a switch as a file, also one that reads as a boolean", function* () {
    const folder = yield* Uploading.folderWith({ "1/a.txt": "a", "yes/b.txt": "b", no: "c" })
    const { stdout } = yield* run(folder, ["-r", "1", "--dry-run", "yes", "--json", "no"])
    expect(stdout.match(/[a-c]\.txt|"no"/g)).toEqual(expect.arrayContaining(["a.txt", "b.txt", '"no"']))
    expect((yield* assembly(folder, ["list", "--json"])).stdout).not.toContain("yes/b.txt")
  })

  it.effect("runs the Steps of a file, and refuses --path beside them", function* () {
    const steps = { hashed: { robot: "/file/hash", use: ":original" } }
    const folder = yield* Uploading.folderWith({ "a.txt": "meow", "steps.json": JSON.stringify({ steps }) })
    const { code, stdout } = yield* run(folder, ["--steps", "steps.json", "a.txt"])
    expect(code).toBe(0)
    expect(stdout).toMatch(/\nhashed\ta\.txt\t4 B\t/)
    const fs = yield* FileSystem.FileSystem
    const runWith = (content: unknown) =>
      Effect.andThen(
        fs.writeFileString(`${folder}/steps.json`, JSON.stringify(content)),
        run(folder, ["--restart", "--steps", "steps.json", "a.txt"])
      )
    const bare = yield* runWith(steps)
    expect(bare.code, bare.stderr).toBe(0)
    expect(bare.stdout).toMatch(/\nhashed\ta\.txt\t4 B\t/)
    const named = yield* runWith({ steps: steps.hashed })
    expect(named.stdout).toMatch(/\nsteps\ta\.txt\t4 B\t/)
  })
})
