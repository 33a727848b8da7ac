import type * as Assembly from "@assembly-effect/schema/Assembly"
import { expect, it } from "@effect/vitest"
import * as NextCommand from "../src/internal/nextCommand.ts"

const id = "a".repeat(32)
const stored = { stored: [{ ssl_url: "https://example.com/a" }] }

it.each<readonly [string, Omit<Assembly.Status, "assembly_id">, string | undefined]>([
  ["runs", { ok: "ASSEMBLY_EXECUTING", results: stored }, `assembly wait ${id}`],
  ["has results", { ok: "ASSEMBLY_COMPLETED", results: stored }, `assembly results download ${id} -o results`],
  ["exports nothing", { ok: "ASSEMBLY_COMPLETED", results: { hashed: [{ name: "a" }] } }, undefined],
  [
    "has only uploads",
    { ok: "ASSEMBLY_COMPLETED", results: { ":original": [{ ssl_url: "https://a.b/c" }] } },
    undefined
  ],
  ["has failed", { error: "X", results: stored }, `correct the cause, then assembly replay ${id}`],
  ["was canceled", { ok: "ASSEMBLY_CANCELED" }, undefined]
])("names the next command for an Assembly that %s", (_, status, next) => {
  expect(NextCommand.ofStatus({ assembly_id: id, ...status } as Assembly.Status)).toBe(next)
})
