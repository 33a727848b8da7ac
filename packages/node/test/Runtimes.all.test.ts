/**
 * The program of `scripts/runtimes`, with small uploads, on every runtime that can be had here. What cannot is shown as
 * skipped, with the reason.
 */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { rows } from "../../../scripts/runtimes/rows.ts"
import * as Run from "../../../scripts/runtimes/run.ts"
import * as Tools from "../../../scripts/runtimes/tools.ts"

/** Four parts of one MiB, and more than one slice. */
const blocks = 4

let missing: string | undefined

beforeAll(() => {
  try {
    Tools.install()
  } catch (error) {
    missing = `npm could not install the runtimes: ${String(error)}`
  }
})

describe("the packages run on", () => {
  for (const row of rows) {
    it(row.name, async (context) => {
      const failed = await Run.run(row, blocks)
      if (failed === undefined) context.skip(missing ?? "this machine does not have it")
      assert.deepStrictEqual(failed, [])
    })
  }
})
