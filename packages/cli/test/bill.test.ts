import type * as Bill from "@assembly-effect/schema/Bill"
import { describe, expect, it } from "@effect/vitest"
import * as Workspace from "../src/commands/workspace.ts"

const bill: Bill.Bill = {
  ok: "BILL_FOUND",
  month: "2026-01",
  total: 12.5,
  currency: "USD",
  account_id: 7,
  bytes_in: 3 * 1024 ** 2,
  bytes_out: 5 * 1024 ** 2,
  plan: { name: "large", price_per_gigabyte: 1, max_jobs: 20 },
  robots: {
    "/image/resize": { steps: 1234, bytes_in: 1024, bytes_out: 512 },
    "/file/hash": { steps: 1, bytes_in: 2048 }
  }
}

describe("Workspace.render", () => {
  it("has words instead of the names of fields, units, and the sums of the robots", () => {
    expect(Workspace.render(bill, "2026-01")).toEqual([
      "Month         2026-01",
      "Total         12.50 USD",
      "Received      3.0 MiB",
      "Result bytes  5.0 MiB",
      "Plan          large, price per gigabyte 1.00 USD, max jobs 20",
      "",
      "Robot          Steps  Bytes in  Bytes out",
      "─────────────────────────────────────────",
      "/image/resize  1,234   1.0 KiB      512 B",
      "/file/hash         1   2.0 KiB          –",
      "all robots     1,235   3.0 KiB      512 B"
    ])
  })

  it("has no sum of one robot, and no table without robots", () => {
    const lines = Workspace.render({ ...bill, robots: { "/file/hash": { steps: 1 } } }, "2026-01")
    expect(lines.slice(-3)).toEqual(["Robot       Steps", "─────────────────", "/file/hash      1"])
    for (const robots of [{}, null, "none"]) {
      expect(Workspace.render({ ok: "BILL_FOUND", robots }, "2026-02")).toEqual(["Month  2026-02"])
    }
  })

  it("shows what is in another form than named numbers as JSON, and no sum of it", () => {
    const lines = Workspace.render({ ...bill, robots: { a: { bytes_in: 2048, tiers: ["x"] }, b: 3 } }, "2026-01")
    expect(lines.slice(-5)).toEqual([
      "Robot       Bytes in  Tiers  Use",
      "────────────────────────────────",
      'a            2.0 KiB  ["x"]    –',
      "b                  –      –    3",
      "all robots   2.0 KiB      –    3"
    ])
  })
})
