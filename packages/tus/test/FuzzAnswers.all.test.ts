/**
 * A small selection of `pnpm fuzz:answers`: mutated answers for everything in schema, auth, api and tus that reads one
 * end in a value or a typed error.
 */
import { assert, describe, test } from "@assembly-effect/testkit/flow"
import { Effect } from "effect"
import * as Fuzz from "@assembly-effect/testkit/hostile/fuzz/Fuzz"
import * as Subjects from "@assembly-effect/testkit/hostile/fuzz/Subjects"
import * as Wire from "@assembly-effect/testkit/hostile/fuzz/Wire"

const seed = 20_261_121

describe("mutated answers end in a value or a typed error", () => {
  test("of a service in memory", async () => {
    const subjects = Subjects.all(Subjects.ordinary)
    const { answers, counts } = await Fuzz.run({ subjects, seed, answers: 300 })
    assert.isAtLeast(answers, 300)
    assert.strictEqual(counts.size, subjects.length)
  })

  test("over connections, with fetch and undici", async () => {
    const subjects = Subjects.all(Wire.pace)
    const { answers, counts } = await Wire.run({ subjects, seed, answers: 100 })
    assert.isAtLeast(answers, 100)
    assert.strictEqual(counts.size, subjects.length)
  })

  test("a defect, an error that cannot be printed, and one without a tag are findings", async () => {
    const failing = (run: Subjects.Subject["run"]) => Fuzz.one({ name: "a reader", run }, 1).catch(String)
    assert.match(String(await failing(() => Effect.die(new Error("a bug")))), /a reader, seed 1: Error: a bug/)
    const circular = Object.assign(new Error("x"), { _tag: "Circular", self: {} })
    circular.self = circular
    assert.match(String(await failing(() => Effect.fail(circular))), /Circular cannot be printed/)
    const nameless = { message: "x" } as unknown as Subjects.Failure
    assert.match(String(await failing(() => Effect.fail(nameless))), /an error without a tag/)
  })
})
