import type { Assembly } from "@assembly-effect/schema"
import { expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock, TestConsole } from "effect/testing"
import * as Commands from "../src/commands/assemblies.ts"
import * as Screen from "./support/screen.ts"

const uploading = (finished: number) =>
  ({
    ok: "ASSEMBLY_UPLOADING",
    expected_tus_uploads: 50,
    finished_tus_uploads: finished,
    bytes_received: 10
  }) as Assembly.Status
const completed = { ok: "ASSEMBLY_COMPLETED" } as Assembly.Status

/** Everything that is printed for a Status every 20 ms, and then the end. */
const printed = (statuses: ReadonlyArray<Assembly.Status>, columns: number) =>
  Effect.gen(function* () {
    const changes = Stream.concat(
      Stream.mapEffect(Stream.fromIterable(statuses), (status) => Effect.as(Effect.sleep("20 millis"), status)),
      Stream.fromEffect(Effect.as(Effect.sleep("10 seconds"), completed))
    )
    const fiber = yield* Effect.forkChild(Stream.runDrain(Commands.changes(changes)))
    yield* Effect.forEach(Array.from({ length: 200 }), () => TestClock.adjust("100 millis"), { discard: true })
    yield* Fiber.join(fiber)
    return (yield* TestConsole.logLines).map(String)
  }).pipe(Effect.provide(Layer.merge(TestConsole.layer, Screen.make({ columns, animated: true }).layer)))

it.effect("prints the first, the newest and the last of many changes, at most one line a second", function* () {
  const lines = yield* printed(
    Array.from({ length: 50 }, (_, index) => uploading(index)),
    0
  )
  expect(lines.map((line) => line.slice(10))).toEqual([
    "uploading, 0 of 50 files, 10 B received",
    "uploading, 49 of 50 files, 10 B received",
    "completed"
  ])
})

it.effect("prints no line twice", function* () {
  const lines = yield* printed([uploading(1), uploading(2), uploading(1), uploading(1), uploading(1)], 0)
  expect(lines.map((line) => line.slice(10))).toEqual(["uploading, 1 of 50 files, 10 B received", "completed"])
})

it.effect("breaks a line between words in a narrow terminal", function* () {
  const [first = ""] = yield* printed([uploading(1)], 30)
  for (const line of first.split("\n")) expect(line.length).toBeLessThanOrEqual(30)
  expect(first.replace("\n", " ")).toContain("uploading, 1 of 50 files, 10 B received")
})
