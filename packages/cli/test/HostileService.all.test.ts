/**
 * Runs every command against a service whose texts all attack the terminal, and checks the output byte by byte.
 */
import * as Program from "../src/internal/main.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { TerminalCapabilities } from "effect/cli"
import { Console, Effect, Exit, FileSystem, Layer, Stdio } from "effect"
import { format } from "node:util"
import * as Hostile from "./support/hostile.ts"
import * as InProcess from "./support/inProcess.ts"
import * as Screen from "./support/screen.ts"
import * as Output from "../src/internal/output.ts"

/**
 * The control sequences of the commands themselves: bold, dim, four colours, their ends, and those that redraw the
 * progress bar.
 */
// oxlint-disable-next-line no-control-regex -- escape sequences are what this reads
const own = /\u001b\[(?:1|2|22|31|32|33|36|39|0)m|\r\u001b\[2K|\u001b\[\?25[lh]/g

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/u

/** Checks that a text is well-formed, and contains no control sequence except those of the commands. */
const isHarmless = (text: string, name: string): void => {
  expect(text.isWellFormed(), name).toBe(true)
  const found = obeyed.exec(text.replace(own, ""))
  expect(found === null ? "" : JSON.stringify(text.slice(0, 4000)), name).toBe("")
}

interface Ran {
  readonly failed: boolean
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line in this process, with colours and a screen whose cursor moves. */
const run = Effect.fnUntraced(function* (origin: string, args: ReadonlyArray<string>, version = "0.1.0") {
  const screen = Screen.make({ columns: 80, animated: true })
  const { layer: console, written } = InProcess.captured()
  const exit = yield* Program.run(version).pipe(
    Effect.provide(
      Layer.mergeAll(
        screen.layer,
        Stdio.layerTest({ args: Effect.succeed(args) }),
        console,
        Layer.succeed(TerminalCapabilities.TerminalCapabilities, {
          canAnimate: true,
          canColor: true,
          canPrompt: false
        }),
        InProcess.settings(origin)
      )
    ),
    Effect.exit
  )
  return { failed: Exit.isFailure(exit), stdout: screen.text() + written.stdout, stderr: written.stderr } satisfies Ran
})

const assetId = "AAAAAAAAAAAAAAAAAAAAAA"
const id = "5a".repeat(16)

const resourceCommands = [
  "templates list",
  "templates get t",
  "templates update --name n t",
  "credentials list",
  "credentials get c",
  "credentials types",
  "keys list",
  "keys update --scope read k",
  "keys scopes",
  "assets list",
  "assets move a b",
  "bill 2026-01",
  `notifications list ${id}`,
  `notifications replay ${id}`,
  "queues",
  "queues stats --region r",
  ...["get", "watch", "wait", "cancel", "replay", "results list"].map((command) => `${command} ${id}`),
  "doctor --no-upload"
]

const commands = (file: string): Readonly<Record<string, ReadonlyArray<string>>> => ({
  ...Object.fromEntries(
    ["list", "stats", `move --root ${assetId}`, ...resourceCommands].flatMap((command) => [
      [command, command.split(" ")],
      [`${command} --json`, [...command.split(" "), "--json"]]
    ])
  ),
  ...Object.fromEntries(["csv", "svg", "html"].map((form) => [`stats --${form}`, ["stats", `--${form}`]])),
  token: ["token"],
  upload: ["upload", file],
  "templates delete": ["templates", "delete", "t"]
})

/** Whether the responses are those of another program. */
const isForeign = (kind: string): boolean => kind === "plain text" || kind === "a page"

/** The last line of a list that has more pages. */
const more = /^.*--cursor=.+ continues, --all lists all\n$/

/** The characters that file names and arguments may contain. */
const name = Hostile.evil.replaceAll(/[\0/]|[\ud800-\udfff]/gu, "")

describe("No text of the service is obeyed by a terminal, and a failure is one line", () => {
  for (const kind of Object.keys(Hostile.kinds)) {
    it.live(kind, NodeServices.layer, function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/a.txt`
      yield* fs.writeFileString(file, "meow")
      const origin = yield* Hostile.serve(kind)
      for (const [command, args] of Object.entries(commands(file))) {
        const { failed, stderr, stdout } = yield* run(origin, args)
        isHarmless(stdout, command)
        isHarmless(stderr, command)
        const lines = stderr.replace(more, "").split("\n").slice(0, -1)
        // `upload` also reports what happened to its Assembly, and the last line may say what to do next.
        const most = command === "upload" ? 3 : 2
        expect(failed ? lines.length >= 1 && lines.length <= most : lines.length === 0, stderr.slice(0, 2000)).toBe(
          true
        )
        for (const line of lines)
          expect(line, command).toMatch(/^assembly: \S|^(?:Check|Run|Set|Add|Request|The Assembly) \S/)
        if (failed) expect(lines[0], command).toMatch(/^assembly: \S/)
        if (isForeign(kind)) {
          const { host } = new URL(origin)
          const advice = `Check ASSEMBLY_BASE_URL: ${host} does not answer as the Assembly Processing Service does.`
          expect(failed, command).toBe(true)
          // The lines of doctor are wrapped.
          const said = (stdout + stderr).replace(/\s+/g, " ")
          expect(said.split(advice).length - 1, `${command}\n${stdout}${stderr}`).toBe(1)
        }
      }
    })
  }

  it.live("shows the escaped text", NodeServices.layer, function* () {
    const origin = yield* Hostile.serve("answers of the right form")
    const { stdout } = yield* run(origin, ["move", "--root", assetId])
    expect(stdout).toMatch(/^AAAAAAAAAAAAAAAAAAAAAA is now EVIL\\x1b\[35m\\x1b\[2J\\x1b\]52;c;cm0gLXJm\\x07.*END\n$/)
    const { stdout: json } = yield* run(origin, ["move", "--root", "--json", assetId])
    expect(JSON.parse(json)).toMatchObject({ path: Hostile.evil })
  })

  it.live("shows the responses of every resource", NodeServices.layer, function* () {
    const origin = yield* Hostile.serve("answers of the right form")
    for (const command of resourceCommands) {
      const { failed, stderr, stdout } = yield* run(origin, command.split(" "))
      const told = stderr.replace(more, "")
      expect({ command, failed, told }).toEqual({ command, failed: false, told: "" })
      if (!/^(?:keys scopes|queues stats|wait|watch|cancel|replay|doctor)/.test(command))
        expect(stdout, command).toContain("EVIL")
    }
  })

  it.live("reports a value that cannot be printed", NodeServices.layer, function* () {
    const origin = yield* Hostile.serve("an entry without an end")
    const { failed, stderr } = yield* run(origin, ["list", "--json"])
    expect(failed).toBe(true)
    expect(stderr).toMatch(/^assembly: .*(?:nested|deep).*\n.*\n$/)
  })
})

describe("No argument is obeyed by a terminal", () => {
  for (const args of [
    [name],
    ["list", name],
    ["list", `--${name}`],
    ["list", `-${name}`],
    ["list", "--from", name],
    ["list", "--type", name],
    ["list", "--cursor", name],
    ["list", "--log-level", name],
    ["move", name],
    ["move", "--filename", name, name],
    ["upload", name],
    ["emulator", "--templates", name],
    ["emulator", "--port", name],
    ["--completions", name],
    [name, "--help"],
    ["--help"]
  ]) {
    it.live(args.join(" ").replaceAll(name, "…"), NodeServices.layer, function* () {
      const { stderr, stdout } = yield* run("http://127.0.0.1:9", args)
      isHarmless(stdout, "stdout")
      isHarmless(stderr, "stderr")
      expect(stdout + stderr).not.toBe("")
    })
  }
})

/** A console whose methods record their arguments. */
const hearing = (...methods: ReadonlyArray<keyof Console.Console>) => {
  const written: Array<string> = []
  const hear = (...values: ReadonlyArray<unknown>) => void written.push(format(...values))
  const console: Console.Console = Object.assign(
    Object.create(globalThis.console),
    Object.fromEntries(methods.map((method) => [method, hear]))
  )
  return { console, written }
}

describe("Output", () => {
  it.live("guards logs and code that does not use it", function* () {
    const { console, written } = hearing("log", "error")
    yield* Effect.all([
      Effect.logError(Hostile.evil),
      Console.log(Hostile.evil, { text: Hostile.evil }, 1),
      Console.error("\u001b[1mbold\u001b[22m \u001b[8mhidden\u001b[28m%s")
    ]).pipe(Effect.provide(Layer.provideMerge(Output.layer, Layer.succeed(Console.Console, console))))
    expect(written.length).toBeGreaterThanOrEqual(3)
    for (const line of written) isHarmless(line.replaceAll("\u001b[35m", ""), "a line")
    expect(written.at(-1)).toBe("\u001b[1mbold\u001b[22m \\x1b[8mhidden\\x1b[28m%s")
  })

  it.effect.each([
    ["lines", Output.lines([Hostile.evil])],
    ["hint", Output.hint(Hostile.evil)],
    ["error", Output.error(`${Hostile.evil}\n${Hostile.evil}`)],
    ["draw", Output.draw(Hostile.evil)]
  ] as const)("escapes by itself what is given to %s", function* ([method, write]) {
    const { console, written } = hearing("log", "error")
    const screen = Screen.make({ columns: 80, animated: true })
    yield* write.pipe(Effect.provide([Layer.succeed(Console.Console, console), screen.layer]))
    const text = (written.join("") + screen.text()).replaceAll(method === "draw" ? "\u001b[35m" : "\0", "")
    expect(text).toContain("\\x1b[2J")
    isHarmless(text, method)
  })

  it.effect.each(["log", "error", "info", "warn", "debug", "trace", "group", "groupCollapsed"] as const)(
    "guards %s of a console",
    function* (method) {
      const { console, written } = hearing(method)
      yield* Console.consoleWith((guarded) => Effect.sync(() => guarded[method](Hostile.evil))).pipe(
        Effect.provide(Layer.provideMerge(Output.layer, Layer.succeed(Console.Console, console)))
      )
      expect(written).toHaveLength(1)
      expect(written[0]).toContain("\\x1b[2J")
      isHarmless(written.join("").replaceAll("\u001b[35m", ""), method)
    }
  )

  it.live("guards help and the version, which do not use it", NodeServices.layer, function* () {
    const { stdout } = yield* run("http://127.0.0.1:9", ["--version"], Hostile.evil)
    expect(stdout).toContain("EVIL")
    isHarmless(stdout.replaceAll("\u001b[35m", ""), "stdout")
  })
})
