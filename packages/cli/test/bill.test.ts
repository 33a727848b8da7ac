import { expect, it } from "@effect/vitest"
import * as Workspace from "../src/commands/workspace.ts"

it("a bill has no sum of one robot, and no table without robots", () => {
  const bill = { ok: "BILL_FOUND", month: "2026-02" } as const
  const lines = Workspace.render({ ...bill, robots: { "/file/hash": { steps: 1 } } }, "2026-01")
  expect(lines.slice(-3)).toEqual(["Robot       Steps", "─────────────────", "/file/hash      1"])
  for (const robots of [{}, null, "none"]) {
    expect(Workspace.render({ ok: "BILL_FOUND", plan: "startup", robots }, "2026-02")).toEqual([
      "Month  2026-02",
      "Plan   startup"
    ])
  }
})
