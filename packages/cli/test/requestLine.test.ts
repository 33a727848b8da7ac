import { expect, it } from "@effect/vitest"
import { DateTime, Duration } from "effect"
import * as Text from "../src/internal/text.ts"
import * as Emulator from "../src/commands/emulator.ts"

const id = "5a".repeat(16)
const entry = {
  method: "GET",
  operation: "Assemblies.get",
  assemblyId: id,
  path: `/assemblies/${id}`,
  status: 200,
  reason: undefined,
  duration: Duration.millis(3)
}
const now = DateTime.makeUnsafe("2026-01-01T10:00:00Z")

it.each<readonly [about: string, changes: object, ...cells: Array<string>]>([
  ["the time and the whole id of its Assembly", {}, "Assemblies.get", "200", "3 ms", id],
  ["less than 1 ms", { duration: Duration.zero }, "Assemblies.get", "200", "<1 ms", id],
  ["more than a minute", { duration: Duration.seconds(65) }, "Assemblies.get", "200", "1 min 5 s", id],
  // The path of an upload grants access.
  [
    "no path of an operation, and the reason of a refusal",
    { path: "/resumable/files/secret", status: 403, reason: "NO: \u001b[2J" },
    "Assemblies.get",
    "403",
    "3 ms",
    id,
    "NO: \\x1b[2J"
  ],
  [
    "the method and the path of no operation",
    { operation: undefined, path: "/foo", assemblyId: undefined },
    "GET /foo",
    "200",
    "3 ms"
  ]
])("the line of a request has %s", (_, changes, ...cells) => {
  const line = Emulator.render(Object.assign({}, entry, changes), now)
  expect(line.split(/ {2,}/)).toEqual(["10:00:00", ...cells])
  if (Object.keys(changes).length === 0) expect(line.length).toBe(80)
})

it("the first status of a refusal is yellow, the last one of a success is green", () => {
  const colourOf = (status: number) => {
    const line = Emulator.render({ ...entry, status }, now, Text.ansi)
    return (["green", "yellow", "red"] as const).find((colour) => line.includes(Text.ansi[colour](String(status))))
  }
  expect([399, 400, 499, 500].map(colourOf)).toEqual(["green", "yellow", "yellow", "red"])
})
