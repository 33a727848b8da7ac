import * as Settings from "../src/internal/settings.ts"
import { expect, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"

const secret = "s3cr3t"

it.each<[string, ReadonlyArray<readonly [line: number, problem: string]>]>([
  ["", []],
  ["# ASSEMBLY_AUTH_KEY\n\nOTHER\nMY_ASSEMBLY_KEY='x\nexport ASSEMBLY_AUTH_KEY = 'a#b' # c", []],
  ['ASSEMBLY_BASE_URL: https://a.example\nASSEMBLY_AUTH_KEY="a"', []],
  [`A=1\nASSEMBLY_AUTH_KEY ${secret}`, [[2, "ASSEMBLY_AUTH_KEY has no value: write ASSEMBLY_AUTH_KEY=value"]]],
  [`ASSEMBLY_AUTH_KEY:${secret}`, [[1, "ASSEMBLY_AUTH_KEY has no value: write ASSEMBLY_AUTH_KEY=value"]]],
  [`A=1\r\nASSEMBLY_AUTH_KEY="${secret}`, [[2, "the quote of ASSEMBLY_AUTH_KEY is not closed"]]],
  [`A=1\rASSEMBLY_AUTH_KEY="${secret}`, [[2, "the quote of ASSEMBLY_AUTH_KEY is not closed"]]],
  ["ASSEMBLY_AUTH_KEY=''", [[1, "ASSEMBLY_AUTH_KEY is empty"]]],
  ["ASSEMBLY_AUTH_KEY= # later", [[1, "ASSEMBLY_AUTH_KEY is empty"]]],
  [
    `ASSEMBLY_KEY=${secret}`,
    [
      [
        1,
        "there is no variable ASSEMBLY_KEY; this program reads ASSEMBLY_BASE_URL, ASSEMBLY_AUTH_KEY, ASSEMBLY_AUTH_SECRET, ASSEMBLY_EMULATOR_KEY, ASSEMBLY_EMULATOR_SECRET"
      ]
    ]
  ],
  ["ASSEMBLY_AUTH_KEY=a\nASSEMBLY_AUTH_KEY=b", [[2, "ASSEMBLY_AUTH_KEY is set in line 1 too; this line is used"]]],
  ["A\0S\0S\0", [[1, "the file is not UTF-8 text; save it as UTF-8"]]]
])("names the line and the problem of %j, and no value", (text, expected) => {
  const found = Settings.problemsIn(text)
  expect(found).toEqual(expected.map(([line, problem]) => `line ${line}: ${problem}`))
  expect(JSON.stringify(found)).not.toContain(secret)
})

it("names the encoding of a file whose bytes are not valid UTF-8, and not what follows from it", () => {
  const latin1 = new TextDecoder().decode(Uint8Array.of(...Buffer.from("# f\xfcr uns\nASSEMBLY_REGION=x", "latin1")))
  expect(Settings.problemsIn(latin1)).toEqual(["line 1: the file is not UTF-8 text; save it as UTF-8"])
})

it.effect.each(["ASSEMBLY_AUTH_KEY", "ASSEMBLY_AUTH_SECRET"])(
  "nothing of the file is loaded if the environment has only %s",
  (variable) =>
    Effect.gen(function* () {
      const report = yield* Settings.DotEnv.pipe(
        Effect.provide(Settings.layerDotEnv),
        Effect.provide([
          FileSystem.layerNoop({
            stat: () => Effect.succeed({ type: "File" } as FileSystem.File.Info),
            readFileString: () => Effect.succeed("ASSEMBLY_BASE_URL=https://other.example")
          }),
          Path.layer,
          ConfigProvider.layer(ConfigProvider.fromEnv({ env: { [variable]: secret } }))
        ])
      )
      expect(report?.loaded).toEqual(new Set())
      expect(report?.ignored).toContain(`the environment has ${variable}, `)
    })
)
