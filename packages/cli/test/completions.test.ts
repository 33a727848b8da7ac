/**
 * The completions in every shell that is installed: every command, every flag, and the names of files.
 */
import { everything, root as assembly } from "../src/commands/root.ts"
import * as CompletionsCommand from "../src/commands/shells.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { layer } from "@assembly-effect/testkit/flow"
import { Completions } from "effect/cli"
import { FileSystem } from "effect"
import { execFileSync, spawnSync } from "node:child_process"
import { assembly as run, folderWith } from "./support/processes.ts"
import * as Help from "../src/internal/help.ts"

const isInstalled = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0

/** What bash would complete. The last word is the word at the cursor. */
const bash = (cwd: string, words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const cursor = words.length - 1
  const script = [
    "source ./completions",
    `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})`,
    `COMP_CWORD=${cursor} COMP_LINE='${words.join(" ")}' COMP_POINT=${words.join(" ").length}`,
    `_assembly assembly '${words[cursor]}' '${words[cursor - 1]}'`,
    String.raw`printf '%s\n' "${"${COMPREPLY[@]}"}"`
  ].join("\n")
  return lines(execFileSync("bash", ["--norc", "--noprofile", "-c", script], { cwd }).toString())
}

const fish = (cwd: string, words: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines(
    execFileSync("fish", ["--no-config", "-c", `source ./completions; complete -C '${words.join(" ")}'`], {
      cwd
    }).toString()
  ).map((line) => line.split("\t", 1)[0] ?? "")

const lines = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .toSorted()

const shells = { bash, fish } as const

/** Only what begins with the letters of the files: fish also shows flags. */
const files = (found: ReadonlyArray<string>): ReadonlyArray<string> => found.filter((one) => one.startsWith("zz"))

layer(NodeServices.layer)("completions", (it) => {
  for (const [shell, complete] of Object.entries(shells)) {
    it.effect.skipIf(!isInstalled(shell))(`of ${shell} complete commands, flags, values and files`, function* () {
      const fs = yield* FileSystem.FileSystem
      const cwd = yield* folderWith({ "zz-a.txt": "", "zz-b.json": "" })
      yield* fs.makeDirectory(`${cwd}/zz-folder`)
      const { stdout } = yield* run(cwd, {}, "completions", shell)
      yield* fs.writeFileString(`${cwd}/completions`, stdout)
      const at = (line: string) => complete(cwd, line.split(" "))

      expect(at("assembly templates cr")).toEqual(["create"])
      expect(at("assembly list --typ")).toContain("--type")
      expect(at("assembly list --type fa")).toContain("failed")
      const all = ["zz-a.txt", "zz-b.json", expect.stringMatching(/^zz-folder\/?$/)]
      for (const line of [
        "assembly upload zz",
        "assembly upload zz-a.txt zz",
        "assembly upload -r zz",
        "assembly upload --steps zz",
        "assembly templates create thumbnails zz",
        "assembly credentials create x --type s3 --content zz",
        "assembly upload --fields-file zz",
        "assembly replay --fields-file zz"
      ]) {
        expect(files(at(line)), line).toEqual(all)
      }
      // An id is no file.
      for (const line of ["assembly get zz", "assembly results download zz", "assembly upload --template zz"]) {
        expect(files(at(line)), line).toEqual([])
      }
      expect(files(at("assembly results download x -o zz")).at(-1)).toMatch(/^zz-folder\/?$/)
    })
  }

  it.effect("know what every parameter means, and which take a path", function* () {
    const namesIn = (command: Completions.CommandDescriptor, path: string = ""): ReadonlyArray<string> => {
      const names = [...command.arguments.map(({ name }) => name), ...command.flags.map(({ name }) => `--${name}`)]
      for (const name of names) expect(Help.parameter(path, name), `${path} ${name}`).not.toBe("")
      const below = command.subcommands.flatMap((one) => namesIn(one, `${path} ${one.name}`.trim()))
      return [...names.map((name) => name.replace("--", "")), ...below]
    }
    const names = namesIn(Completions.fromCommand(yield* assembly(everything)))
    for (const name of Object.keys(CompletionsCommand.paths)) expect(names).toContain(name)
  })
})
