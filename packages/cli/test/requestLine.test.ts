import { expect, it } from "@effect/vitest"
import * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Text from "../src/internal/text.ts"
import * as Emulator from "../src/commands/emulator.ts"

const id = "5a".repeat(16)
const entry = {
  method: "GET",
  operation: "Assemblies.get",
  assemblyId: id,
  path: `/assemblies/${id}`,
  status: 200,
  reason: undefined
}

it.each([
  [0, "<1 ms"],
  [3, "3 ms"],
  [999, "999 ms"],
  [1234, "1.2 s"],
  [65_000, "1 min 5 s"]
])("a request of %d ms has the time %s, and the whole id of its Assembly", (millis, time) => {
  const line = Emulator.render(
    { ...entry, duration: Duration.millis(millis) },
    DateTime.makeUnsafe("2026-01-01T10:00:00Z")
  )
  expect(line.split(/ {2,}/)).toEqual(["10:00:00", "Assemblies.get", "200", time, id])
  expect(line.length).toBe(millis < 60_000 ? 80 : 82)
})

it("a request of an operation has no path, which may grant access, and a refusal has its reason", () => {
  const line = Emulator.render(
    { ...entry, path: "/resumable/files/secret", status: 403, reason: "NO: \u001b[2J", duration: Duration.millis(3) },
    DateTime.makeUnsafe("2026-01-01T10:00:00Z")
  )
  expect(line.split(/ {2,}/)).toEqual(["10:00:00", "Assemblies.get", "403", "3 ms", id, "NO: \\x1b[2J"])
})

it("a request of no operation has its method and its path", () => {
  const line = Emulator.render(
    { ...entry, operation: undefined, path: "/foo", assemblyId: undefined, duration: Duration.millis(3) },
    DateTime.makeUnsafe("2026-01-01T10:00:00Z")
  )
  expect(line.split(/ {2,}/)).toEqual(["10:00:00", "GET /foo", "200", "3 ms"])
})

it("the first status of a refusal is yellow, the last one of a success is green", () => {
  const colourOf = (status: number) => {
    const now = DateTime.makeUnsafe("2026-01-01T10:00:00Z")
    const line = Emulator.render({ ...entry, status, duration: Duration.millis(3) }, now, Text.ansi)
    return (["green", "yellow", "red"] as const).find((colour) => line.includes(Text.ansi[colour](String(status))))
  }
  expect([399, 400, 499, 500].map(colourOf)).toEqual(["green", "yellow", "yellow", "red"])
})
