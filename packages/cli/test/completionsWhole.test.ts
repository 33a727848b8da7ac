/**
 * The completions know every command and every flag, in every shell that is installed.
 */
import { assembly } from "@assembly-effect/cli/commands/assembly"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect, layer } from "@effect/vitest"
import * as Completions from "effect/cli/Completions"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import { execFileSync, spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { assembly as run, folderWith } from "./support/processes.ts"

const isInstalled = (shell: string): boolean => spawnSync(shell, ["--version"]).status === 0

/** A command line without its last word, and the words that a shell must offer for it. */
interface Expected {
  readonly words: ReadonlyArray<string>
  readonly offers: ReadonlyArray<string>
}

/** What the shells must offer: below each command its commands, and after each `--` its flags. */
const expectedOf = (
  command: Completions.CommandDescriptor,
  above: ReadonlyArray<string> = []
): ReadonlyArray<Expected> => {
  const words = [...above, command.name]
  const flags = command.flags.map(({ name }) => `--${name}`)
  const below = command.subcommands.map(({ name }) => name)
  return [
    ...(below.length === 0 ? [] : [{ words: [...words, ""], offers: below }]),
    { words: [...words, "--"], offers: flags },
    ...command.subcommands.flatMap((one) => expectedOf(one, words))
  ]
}

const lines = (text: string): ReadonlyArray<string> => text.split("\n")

/** One process of bash completes all command lines. */
const bash = (cwd: string, all: ReadonlyArray<Expected>): ReadonlyArray<ReadonlyArray<string>> => {
  const asked = all.map(({ words }) =>
    [
      `COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")})`,
      `COMP_CWORD=${words.length - 1} COMP_LINE='${words.join(" ")}' COMP_POINT=${words.join(" ").length}`,
      "COMPREPLY=()",
      `_assembly assembly '${words.at(-1)}' '${words.at(-2)}'`,
      String.raw`printf '%s ' "${"${COMPREPLY[@]}"}"; echo`
    ].join("\n")
  )
  const script = ["source ./completions", ...asked].join("\n")
  return lines(execFileSync("bash", ["--norc", "--noprofile", "-c", script], { cwd }).toString()).map((line) =>
    line.trim().split(" ")
  )
}

/** One process of fish completes all command lines. */
const fish = (cwd: string, all: ReadonlyArray<Expected>): ReadonlyArray<ReadonlyArray<string>> => {
  const asked = all.map(({ words }) => `complete -C '${words.join(" ")}' | cut -f 1; echo "# end"`)
  const script = ["source ./completions", ...asked].join("\n")
  const text = execFileSync("fish", ["--no-config", "-c", script], { cwd }).toString()
  return text.split("# end\n").map(lines)
}

/**
 * zsh completes only in a terminal. So zsh checks the syntax, and the words are those in the function of each command.
 */
const zsh = (cwd: string, all: ReadonlyArray<Expected>): ReadonlyArray<ReadonlyArray<string>> => {
  execFileSync("zsh", ["-f", "-n", "completions"], { cwd })
  const script = readFileSync(`${cwd}/completions`, "utf8")
  const bodies = new Map(
    Array.from(script.matchAll(/^(_assembly[\w-]*)\(\) \{\n(.*?)^\}/gms), ([, name = "", body = ""]) => [
      name.replaceAll("-", "_"),
      Array.from(body.matchAll(/'(?:\([^)]*\))?([\w-]+)[[:=]/g), ([, word = ""]) => word)
    ])
  )
  return all.map(({ words }) => bodies.get(`_${words.slice(0, -1).join("_").replaceAll("-", "_")}`) ?? [])
}

layer(NodeServices.layer, { excludeTestServices: true })("the completions", (it) => {
  for (const [shell, complete] of Object.entries({ bash, fish, zsh })) {
    it.effect.skipIf(!isInstalled(shell))(`of ${shell} know all commands and flags`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const cwd = yield* folderWith({})
        const { stdout } = yield* run(cwd, {}, "completions", shell)
        yield* fs.writeFileString(`${cwd}/completions`, stdout)
        const all = expectedOf(Completions.fromCommand(yield* assembly(["--completions"])))
        expect(all.length).toBeGreaterThan(50)
        const found = complete(cwd, all)
        for (const [index, { offers, words }] of all.entries()) {
          for (const offer of offers) expect(found[index], words.join(" ")).toContain(offer)
        }
      }).pipe(Effect.scoped)
    )
  }
})
