import * as NodeServices from "@effect/platform-node/NodeServices"
import { expect } from "@effect/vitest"
import { it } from "@assembly-effect/testkit/flow"
import { Effect, Exit, Layer } from "effect"
import { TestConsole } from "effect/testing"
import * as Screen from "./support/screen.ts"
import * as Failure from "../src/internal/failure.ts"
import * as Resource from "../src/internal/resource.ts"

const asked = (
  screen: ReturnType<typeof Screen.make>,
  ids: ReadonlyArray<string>,
  describe: (id: string) => Effect.Effect<string | null, string>
) =>
  Effect.exit(Resource.confirm({ ids, words: ["asset", "assets"], describe })).pipe(
    Effect.provide(Layer.provideMerge(screen.layer, NodeServices.layer))
  )

it.effect("lists what it would delete, with the names that a person knows", function* () {
  const screen = Screen.make({ columns: 80, animated: true, typed: "yes\n" })
  const names: Readonly<Record<string, string | null>> = { a: "reports/2026.pdf", long: "evil\u001b[2J", none: null }
  const describe = (id: string) => (names[id] === undefined ? Effect.fail("not found") : Effect.succeed(names[id]))
  yield* asked(screen, ["a", "long", "none"], describe)
  expect(screen.written[0]).toBe("  a     reports/2026.pdf\n  long  evil\\x1b[2J\n  none\n")
  expect(screen.text()).toMatch(/Delete 3 assets\? \(y\/N\).* yes\n/)
  const before = screen.text()
  expect(yield* asked(screen, ["a", "gone"], describe)).toEqual(Exit.fail("not found"))
  expect(screen.text()).toBe(before)
})

it.effect.each(["\n", "n\n", "xyz\n", "clear-history\n"])("deletes nothing after the answer %j", function* (typed) {
  const screen = Screen.make({ columns: 80, animated: true, typed })
  const exit = yield* asked(screen, ["a"], () => Effect.succeed(null))
  expect(exit).toEqual(Exit.fail(Failure.failed("nothing was deleted")))
})

it.effect("lists ten things and the number of the others, and reads only these ten", function* () {
  const screen = Screen.make({ columns: 80, animated: true, typed: "yes\n" })
  const read: Array<string> = []
  const ids = Array.from({ length: 1012 }, (_, index) => `id${index}`)
  yield* asked(screen, ids, (id) => Effect.sync(() => (read.push(id), null)))
  expect(screen.written[0]?.split("\n").slice(8)).toEqual(["  id8", "  id9", "  and 1,002 more", ""])
  expect(read).toEqual(ids.slice(0, 10))
})

it.effect("ends its line after Ctrl-C at the question, and is interrupted", function* () {
  const screen = Screen.make({ columns: 80, animated: true, typed: "", quits: true })
  const exit = yield* asked(screen, ["a"], () => Effect.succeed(null))
  expect(Failure.codeOfExit(exit)).toBe(Failure.codes.interrupted)
  expect(screen.text()).toMatch(/ {2}a\n.*Delete the asset a\?[^\n]*\n$/s)
})

const lost = new Error("the connection failed")

it.effect("stops at the first of several things that cannot be deleted, and names it", function* () {
  const removed: Array<string> = []
  const remove = (id: string) =>
    Effect.suspend(() => {
      removed.push(id)
      return id === "b" ? Effect.fail(lost) : Effect.void
    })
  const error = yield* Effect.flip(Resource.each(["a", "b", "c"], remove))
  expect(error).toMatchObject({ about: "b", causes: [lost] })
  expect(removed).toEqual(["a", "b"])
  expect(yield* TestConsole.logLines).toEqual(["deleted a"])
  // The user knows which thing it was.
  expect(yield* Effect.flip(Resource.each(["b"], remove))).toBe(lost)
})
