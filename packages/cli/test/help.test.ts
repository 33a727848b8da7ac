import { everything, root as assembly } from "../src/commands/root.ts"
import * as Program from "../src/internal/main.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { CliOutput, type Command } from "effect/cli"
import { Effect, Layer, Stdio } from "effect"
import { TestConsole } from "effect/testing"
import * as Help from "../src/internal/help.ts"
import * as Screen from "./support/screen.ts"

/** The help of a command in a terminal of this width. */
const help = (path: ReadonlyArray<string>, columns: number) => printed([...path, "--help"], columns)

/** A page of the help that belongs to no command. */
const page = (name: string) => printed(["help", name], 80)

const printed = (args: ReadonlyArray<string>, columns: number) =>
  Effect.gen(function* () {
    yield* Program.run("0.0.0").pipe(
      Effect.provide([Screen.make({ columns, animated: false }).layer, Stdio.layerTest({ args: Effect.succeed(args) })])
    )
    return String((yield* TestConsole.logLines).at(-1))
  }).pipe(Effect.provide(Layer.merge(TestConsole.layer, NodeServices.layer)))

/** The help in the words of a user who runs the program as `program`. */
const helpFor = (program: string, path: ReadonlyArray<string>) =>
  Effect.provideService(help(path, 80), Help.Program, program)

type Path = ReadonlyArray<string>

const below = (command: Command.Command.Any, path: Path): ReadonlyArray<readonly [Path, Command.Command.Any]> => [
  [path, command],
  ...command.subcommands.flatMap(({ commands }) => commands.flatMap((one) => below(one, [...path, one.name])))
]

/** Every command with its path. The arguments load every command, as completions do. */
const everyCommand = Effect.map(assembly(everything), (root) => below(root, []))

describe("the help", () => {
  it.effect.each([
    [["help"], ["--help"]],
    [
      ["help", "keys", "create"],
      ["keys", "create", "--help"]
    ],
    [["version"], ["--version"]]
  ] as const)("%j prints what %j prints", function* ([words, flags]) {
    expect(yield* printed(words, 80)).toBe(yield* printed(flags, 80))
  })

  it.effect("has the same words for every flag, and says what a value is", function* () {
    const said = new Map<string, string>()
    for (const [path] of yield* everyCommand) {
      const text = yield* help(path, 80)
      expect(text, path.join(" ")).not.toMatch(/^ +(?:-\S, )?--\S+ string\b/m)
      expect(text, path.join(" ")).not.toMatch(/subcommand|\(the default\)|\(default: [^)]*\) \(optional\)/)
      for (const [, flag = "", value = ""] of text.matchAll(
        /^ {2}--(region|template|step|scope|limit|since) (\S+)/gm
      )) {
        expect(value, `${path.join(" ")} --${flag}`).toBe(said.get(flag) ?? value)
        said.set(flag, value)
      }
    }
    expect(said.size).toBe(6)
    expect(yield* help(["uploads"], 80)).toContain("\n  assembly uploads [<command>] [flags]\n")
    expect(yield* help(["keys"], 80)).toContain("\n  assembly keys <command> [flags]\n")
  })

  it.effect("lists --profile for every command, and --journal for those that have it", function* () {
    for (const [path, { subcommands }] of yield* everyCommand) {
      if (subcommands.length > 0 || ["emulator", "completions", "help"].includes(path.join(" "))) continue
      expect(yield* help(path, 80), path.join(" ")).toMatch(/^ {2}--profile name +The profile/m)
    }
    for (const path of [["upload"], ["uploads"], ["uploads", "forget"]]) {
      expect(yield* help(path, 80)).toMatch(/^ {2}--journal folder +Keep unfinished uploads/m)
    }
  })

  it.effect.each([40, 80])("of every command fits %i columns, and cuts no word", function* (columns) {
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

  it.effect("of every command has two examples, values of choices and at most 40 lines, and names pages", function* () {
    for (const [path, { examples }] of yield* everyCommand) {
      const [text, name] = [yield* help(path, 80), path.join(" ")]
      expect(text.replaceAll(/\s+/g, " "), name).toContain("assembly help environment")
      expect(text, name).not.toMatch(/^ +(?:-\S, )?--\S+ choice\b/m)
      expect(text.split("\n").length, name).toBeLessThanOrEqual(40)
      expect(examples.length, name).toBeGreaterThanOrEqual(2)
      for (const { command } of examples) expect(command).toContain(["assembly", ...path].join(" "))
    }
    const values = "all | uploading | executing | canceled | completed | failed |\n      request_aborted\n"
    expect(yield* help(["list"], 80)).toContain(`--type ${values}`)
  })

  it.effect("has pages for the variables, with the file .env, and for the exit codes", function* () {
    const variables = yield* page("environment")
    expect(variables).toMatch(/^ {2}ASSEMBLY_BASE_URL +The address of the service/)
    for (const name of ["ASSEMBLY_AUTH_KEY", "ASSEMBLY_EMULATOR_SECRET", "file .env"]) expect(variables).toContain(name)
    expect(yield* page("exit-codes")).toMatch(/^ {2}0 +The work is done\n[^]*\n {2}141 +The reader/)
  })

  it.effect("shows commands that the user can paste", function* () {
    const group = yield* helpFor("npx --no-install assembly", ["keys"])
    expect(group).toMatch(/\nUSAGE\n {2}npx --no-install assembly keys /)
    expect(group).toMatch(/\n {2}npx --no-install assembly keys list\n/)
    expect(group.replaceAll(/\s+/g, " ")).toContain("More: npx --no-install assembly keys <command> --help")
    for (const [path] of yield* everyCommand) {
      const text = yield* helpFor("npx --no-install assembly", path)
      const others = text.replaceAll(/\s+/g, " ").replaceAll("npx --no-install assembly", "")
      expect(others, path.join(" ")).not.toMatch(/(?<![\w./-])assembly (?:[a-z<[]|--)/)
    }
  })

  it.effect("marks what is required", function* () {
    expect(yield* help(["upload"], 80)).toMatch(/\n {2}paths\.\.\. +Files,.* \(optional\)\n/)
    expect(yield* help(["wait"], 80)).toMatch(/\n {2}assemblyIds\.\.\. +.* \(required\)\n/)
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
  })
})
