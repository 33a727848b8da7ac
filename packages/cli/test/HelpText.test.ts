import { assembly } from "@assembly-effect/cli/commands/assembly"
import * as Program from "@assembly-effect/cli/Program"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect, it } from "@effect/vitest"
import type * as Command from "effect/cli/Command"
import * as CliOutput from "effect/cli/CliOutput"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stdio from "effect/Stdio"
import * as TestConsole from "effect/testing/TestConsole"
import * as Invocation from "../src/internal/invocation.ts"
import * as Screen from "./support/screen.ts"

/** The help of a command in a terminal of this width. */
const help = (path: ReadonlyArray<string>, columns: number) =>
  Effect.gen(function* () {
    yield* Program.run("0.0.0").pipe(
      Effect.provide([
        Screen.make({ columns, animated: false }).layer,
        Stdio.layerTest({ args: Effect.succeed([...path, "--help"]) })
      ])
    )
    return String((yield* TestConsole.logLines).at(-1))
  }).pipe(Effect.provide(Layer.merge(TestConsole.layer, NodeServices.layer)))

/** The help in the words of a user who runs the program as `program`. */
const helpFor = (program: string, path: ReadonlyArray<string>) =>
  Effect.provideService(help(path, 80), Invocation.Program, program)

type Path = ReadonlyArray<string>

const below = (command: Command.Command.Any, path: Path): ReadonlyArray<readonly [Path, Command.Command.Any]> => [
  [path, command],
  ...command.subcommands.flatMap(({ commands }) => commands.flatMap((one) => below(one, [...path, one.name])))
]

/** Every command with its path. The arguments load every command, as completions do. */
const everyCommand = Effect.map(assembly(["--completions"]), (root) => below(root, []))

describe("the help", () => {
  it.effect("has the same words for every flag, and says what a value is", () =>
    Effect.gen(function* () {
      const said = new Map<string, string>()
      for (const [path] of yield* everyCommand) {
        const text = yield* help(path, 80)
        expect(text, path.join(" ")).not.toMatch(/^ +(?:-\S, )?--\S+ string\b/m)
        expect(text, path.join(" ")).not.toMatch(/subcommand|\(the default\)|\(default: [^)]*\) \(optional\)/)
        for (const [, flag = "", value = ""] of text.matchAll(
          /^ {2}--(region|template|step|scope|page|page-size|since) (\S+)/gm
        )) {
          expect(value, `${path.join(" ")} --${flag}`).toBe(said.get(flag) ?? value)
          said.set(flag, value)
        }
      }
      expect(said.size).toBe(7)
      expect(yield* help(["uploads"], 80)).toContain("\n  assembly uploads [<command>] [flags]\n")
      expect(yield* help(["keys"], 80)).toContain("\n  assembly keys <command> [flags]\n")
    })
  )

  it.effect("names the values of every flag that has a choice", () =>
    Effect.gen(function* () {
      for (const [path] of yield* everyCommand) {
        expect(yield* help(path, 80), path.join(" ")).not.toMatch(/^ +(?:-\S, )?--\S+ choice\b/m)
      }
      expect(yield* help(["list"], 80)).toContain(
        "--type all | uploading | executing | canceled | completed | failed |\n      request_aborted\n"
      )
    })
  )

  it.effect.each([40, 80])("of every command fits %i columns, and cuts no word", (columns) =>
    Effect.gen(function* () {
      for (const [path, { examples }] of yield* everyCommand) {
        const commands = examples.map(({ command }) => `  ${command}`)
        const [narrow, wide] = yield* Effect.all([help(path, columns), help(path, 1000)])
        expect(narrow.split("\n"), path.join(" ")).toEqual(expect.arrayContaining(commands))
        for (const line of narrow.split("\n").filter((one) => !commands.includes(one))) {
          // A word that is longer than the line is not broken, and neither is a command of the examples.
          const isOneWord = !/\S\s+\S/.test(line.replace(/^\s*(?:\S+\s{2,})?/, ""))
          expect(CliOutput.displayWidth(line) <= columns || isOneWord, `${path.join(" ")}: ${line}`).toBe(true)
        }
        const words = (text: string) => text.split(/[\s#]+/).filter((word) => word !== "")
        expect(words(narrow), path.join(" ")).toEqual(words(wide))
      }
    })
  )

  it.effect("of every command names its exit codes, and has two examples", () =>
    Effect.gen(function* () {
      for (const [path, command] of yield* everyCommand) {
        const text = yield* help(path, 80)
        expect(text, path.join(" ")).toMatch(/\nEXIT CODES\n {2}0 +The work is done\n/)
        expect(command.examples.length, path.join(" ")).toBeGreaterThanOrEqual(2)
        for (const { command: example } of command.examples) expect(example).toContain(["assembly", ...path].join(" "))
      }
    })
  )

  it.effect("shows commands that the user can paste", () =>
    Effect.gen(function* () {
      const group = yield* helpFor("npx --no-install assembly", ["keys"])
      expect(group).toMatch(/\nUSAGE\n {2}npx --no-install assembly keys /)
      expect(group).toMatch(/\n {2}npx --no-install assembly keys list\n/)
      expect(group).toMatch(/\nRun npx --no-install assembly keys <command> --help for the help of a command\.$/)
      for (const [path] of yield* everyCommand) {
        const text = yield* helpFor("npx --no-install assembly", path)
        const others = text.replaceAll(/\s+/g, " ").replaceAll("npx --no-install assembly", "")
        expect(others, path.join(" ")).not.toMatch(/(?<![\w./-])assembly (?:[a-z<[]|--)/)
      }
    })
  )

  it.effect("says once that the file .env may set the variables", () =>
    Effect.gen(function* () {
      for (const [path] of yield* everyCommand) {
        const [, variables = ""] = /\nENVIRONMENT\n([^]*?)\n\n/.exec(yield* help(path, 80)) ?? []
        const said = variables.replaceAll(/\s+/g, " ")
        expect(said.split("file .env").length - 1, path.join(" ")).toBe(variables === "" ? 0 : 1)
      }
    })
  )

  it.effect("marks what is required, and names the variables of the command", () =>
    Effect.gen(function* () {
      const upload = yield* help(["upload"], 80)
      expect(upload).toMatch(/\n {2}paths\.\.\. +The files,[^]*?standard input \(required\)\n/)
      expect(upload).toMatch(/\nENVIRONMENT\n {2}ASSEMBLY_BASE_URL +The address .*\n.*\(required\)\n/)
      const statistics = yield* help(["queues", "stats"], 80)
      expect(statistics).toMatch(/--region region +.*\(required\)\n/)
      const keys = yield* help(["keys", "create"], 80)
      expect(keys).toMatch(/--scope scope +[^]*?\(required\)\n {2}--description/)
      for (const path of [
        ["list"],
        ["templates", "list"],
        ["results", "list"],
        ["keys", "update"],
        ["token"],
        ["emulator"]
      ]) {
        const [, flags = ""] = /\nFLAGS\n([^]*?)\n\n/.exec(yield* help(path, 80)) ?? []
        expect(flags, path.join(" ")).not.toBe("")
        expect(flags, path.join(" ")).not.toContain("(required)")
      }
      const emulator = yield* help(["emulator"], 80)
      expect(emulator).toContain("ASSEMBLY_EMULATOR_KEY")
      expect(emulator).not.toContain("ASSEMBLY_AUTH_KEY  ")
    })
  )
})
