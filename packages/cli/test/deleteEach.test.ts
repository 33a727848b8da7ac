/** Deletes several things, one after the other, and names the thing that could not be deleted. */
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestConsole from "effect/testing/TestConsole"
import { deleteEach } from "../src/internal/deleteEach.ts"

const lost = new Error("the connection failed")

it.effect("stops at the first of several things that cannot be deleted, and names it", () =>
  Effect.gen(function* () {
    const asked: Array<string> = []
    const remove = (id: string) =>
      Effect.suspend(() => {
        asked.push(id)
        return id === "b" ? Effect.fail(lost) : Effect.void
      })
    const error = yield* Effect.flip(deleteEach(["a", "b", "c"], remove))
    expect(error).toMatchObject({ _tag: "NotDeleted", id: "b", message: "b: the connection failed" })
    expect(asked).toEqual(["a", "b"])
    expect(yield* TestConsole.logLines).toEqual(["deleted a"])
    // The user knows which thing it was.
    expect(yield* Effect.flip(deleteEach(["b"], remove))).toBe(lost)
  })
)
