import * as AssemblyTable from "@assembly-effect/cli/AssemblyTable"
import { expect, it } from "@effect/vitest"

it("shows the error instead of ok, and nothing for an empty error", () => {
  const entry = { id: "a", created: "2026/01/01 10:00:00 GMT" }
  const states = [
    { ok: "ASSEMBLY_COMPLETED", error: "X" },
    { ok: "ASSEMBLY_COMPLETED", error: "" },
    { ok: "ASSEMBLY_EXECUTING", error: null },
    { error: "" },
    {}
  ].map((standing) => AssemblyTable.render([{ ...entry, ...standing }])[2]?.split(/ {2,}/)[2])
  expect(states).toEqual(["X", "completed", "executing", "–", "–"])
})
