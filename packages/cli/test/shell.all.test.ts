import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { live } from "@assembly-effect/testkit/flow"
import { Arbitrary, Effect, FileSystem, Schema } from "effect"
import { execFileSync } from "node:child_process"
import { DatabaseSync } from "node:sqlite"
import * as Spawned from "./support/spawned.ts"
import { control } from "./support/texts.ts"
import * as Text from "../src/internal/text.ts"

/** The value that a shell reads from each line. */
const readBack = (shell: string, values: ReadonlyArray<string>): ReadonlyArray<string> => {
  const script = values.map((value) => `${Text.exportLine("SECRET", value)}\nprintf '%s\\0' "$SECRET"`).join("\n")
  return execFileSync(shell, ["-c", script], { env: { ...process.env, LC_ALL: "C.UTF-8" } })
    .toString()
    .split("\0")
    .slice(0, -1)
}

const attacks = [
  "p4ss; touch /tmp/owned",
  "$(touch /tmp/owned)",
  "`touch /tmp/owned`",
  "it's",
  "'; exit 1; '",
  "a\\'b",
  "\\",
  "'",
  "\\\\''",
  '"$HOME"',
  "%s %d %%",
  "a b\tc",
  "line\nbreak",
  "*",
  "~",
  "#",
  "-n",
  "漢字",
  ""
]

const piece = Schema.Literals([..."'\\$`\";\n !%_&|(a0é"])
const words = Arbitrary.map(Arbitrary.array(Arbitrary.schema(piece), { maxLength: 20 }), (parts) => parts.join(""))

describe("Text.exportLine", () => {
  it("leaves a plain word as it is", () => {
    assert.strictEqual(Text.exportLine("KEY", "http://127.0.0.1:8080"), "export KEY=http://127.0.0.1:8080")
  })

  it("quotes for a shell", () => {
    assert.strictEqual(Text.exportLine("KEY", "it's; ls"), String.raw`export KEY='it'\''s; ls'`)
    assert.strictEqual(Text.exportLine("KEY", "a\\b"), String.raw`export KEY='a'\\'b'`)
    // zsh reads a word behind an equals sign as the path of a command.
    assert.strictEqual(Text.exportLine("KEY", "=ls:=ls"), "export KEY='=ls:=ls'")
  })

  it("is read back unchanged by sh, whatever it contains", () => {
    assert.deepStrictEqual(readBack("sh", attacks), attacks)
  })

  it.prop(
    "is read back unchanged by sh",
    { values: Arbitrary.array(words, { minLength: 20, maxLength: 20 }) },
    ({ values }) => {
      assert.deepStrictEqual(readBack("sh", values), values)
    }
  )
})

describe("assembly emulator --data", () => {
  live("prints a key and a secret from the folder that no shell executes", NodeServices.layer, function* () {
    const fs = yield* FileSystem.FileSystem
    const data = yield* fs.makeTempDirectoryScoped()
    yield* Effect.scoped(Spawned.emulator({}, "--data", data))
    const secret = `p4ss; touch ${data}/owned; '$(touch ${data}/owned)`
    const database = new DatabaseSync(`${data}/emulator.sqlite`)
    database.prepare("UPDATE auth_keys SET secret = ?").run(secret)
    database.close()
    const { said } = yield* Spawned.emulator({}, "--data", data)
    assert.notMatch(said.replaceAll("\n", ""), control)
    const told = execFileSync("sh", ["-c", `${said}\nprintf '%s' "$ASSEMBLY_AUTH_SECRET"`]).toString()
    assert.strictEqual(told, secret)
    assert.isFalse(yield* fs.exists(`${data}/owned`))
  })
})
