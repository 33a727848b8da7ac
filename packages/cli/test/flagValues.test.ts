/**
 * Invalid numbers, rates, lengths of time and periods are refused before anything is sent. One sentence names the flag,
 * its value and what it expects.
 */
import { describe, expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import * as InProcess from "./support/inProcess.ts"

const run = (args: ReadonlyArray<string>) =>
  InProcess.assembly(
    import.meta.dirname,
    { ASSEMBLY_AUTH_KEY: "key", ASSEMBLY_AUTH_SECRET: "secret", ASSEMBLY_BASE_URL: "http://127.0.0.1:9" },
    args
  )

const id = "5a".repeat(16)
const when = "a date such as 2026-01-31 or 2026-01-31T10:00:00Z, or an age such as 24h or 7d"

const flags: ReadonlyArray<readonly [command: string, flag: string, expected: string, valid?: string]> = [
  ["list", "cursor", "a whole number from 1"],
  ["list", "limit", "a whole number from 1 to 5000"],
  ["list", "since", `${when}, in the past`],
  ["list", "until", when],
  ["templates list", "cursor", "a whole number from 1"],
  ["templates list", "limit", "a whole number from 1 to 5000"],
  ["assets list", "limit", "a whole number from 1 to 500"],
  ["upload a.txt --dry-run", "concurrency", "a whole number from 1 to 100"],
  ["upload a.txt --dry-run", "limit-rate", "bytes per second, such as 500k or 2.5M"],
  [`wait ${id}`, "timeout", "a length of time such as 30s, 10m or 2h"],
  [`results download ${id}`, "concurrency", "a whole number from 1 to 32"],
  ["emulator", "port", "a whole number from 0 to 65535", "0"],
  ["queues stats", "since", `${when}, in the past`],
  ["stats", "since", `${when}, in the past`]
]

describe("a value that is not valid", () => {
  for (const [command, flag, expected, valid] of flags) {
    it.effect(`of ${command} --${flag}`, function* () {
      for (const value of ["", "x", "-1", "1e9", "0", "1.5", " 1", "١"].filter((one) => one !== valid)) {
        // A rate may have decimals.
        if (flag === "limit-rate" && value === "1.5") continue
        const words = command.split(" ")
        const what =
          value === ""
            ? `--${flag} needs a value: ${expected}`
            : `Invalid value for flag --${flag}: "${value}". Expected: ${expected}`
        const name = words.slice(0, words[1]?.match(/^[a-z]+$/) ? 2 : 1).join(" ")
        expect(yield* run([...words, `--${flag}=${value}`]), `${flag}=${value}`).toEqual({
          code: 2,
          stdout: "",
          stderr: `assembly: ${what}\nSee: assembly ${name} --help\n`
        })
      }
      const separate = yield* run([...command.split(" "), `--${flag}`, ""])
      expect(separate).toMatchObject({ code: 2, stdout: "" })
      expect(separate.stderr).toContain(`--${flag}`)
    })
  }
})
