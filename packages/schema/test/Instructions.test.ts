import * as StepRules from "@assembly-effect/schema/unstable/StepRules"
import { Instructions } from "@assembly-effect/schema"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"

const robot = "/image/resize"

const rulesOf = (steps: unknown, of?: "whole" | "changes") =>
  StepRules.problems(steps, of).map(({ message, path }) => `${path.join(".")}: ${message}`)

const unknown = "Expected the name of a Step"
const form = "Expected the name of a Step, an object with a name, a list of these, or an object with steps"
const circle = "Expected Steps that do not use this Step, directly or through others"

describe("make", () => {
  it("returns valid Steps unchanged, with robots that the library knows and others", () => {
    const steps = {
      ":original": { robot: "/upload/handle" },
      resized: { robot, use: ":original", width: 100, imagemagick_stack: "v3" },
      hashed: { robot: "/file/hash", use: ["resized", ":original"], algorithm: "md5" }
    } as const
    const made = Instructions.make(steps)
    assert.deepStrictEqual(made, Result.succeed(steps as never))
  })

  it("leaves out an option whose value is undefined, because JSON has no such value", () => {
    const made = Instructions.make({
      resized: { robot, use: ":original", result: undefined as never, width: undefined }
    })
    assert.deepStrictEqual(made, Result.succeed({ resized: { robot, use: ":original" } } as never))
  })

  it("reports all problems at once with their paths", () => {
    const made = Instructions.make({
      ":original": { robot },
      a: { robot: "", use: ["b", "nowhere"] },
      b: { robot, use: { steps: ["a", { name: "gone" }] } },
      c: { robot: "/emulator/wait", use: 5 as never, seconds: -1 }
    })
    assert.deepStrictEqual(
      Result.isFailure(made) ? made.failure.map(({ message, path }) => `${path.join(".")}: ${message}`) : [],
      [
        ":original.robot: Expected /upload/handle, because the name :original is reserved for the uploads",
        "a.robot: Expected the robot of the Step, at least 1 character",
        `a.use.1: ${unknown}`,
        `b.use.steps.1.name: ${unknown}`,
        `c.use: ${form}`,
        "c.seconds: Expected a number of at least 0",
        `a.use: ${circle}`,
        `b.use: ${circle}`
      ]
    )
  })
})

describe("use", () => {
  it("has all forms, and :original without a Step of that name", () => {
    for (const use of [
      ":original",
      "a",
      { name: "a", as: "base" },
      ["a", ":original"],
      [{ name: "a", fields: "photo" }, "a"],
      { steps: "a" },
      { steps: ["a"], bundle_steps: true },
      { steps: [{ name: "a", as: "image" }], group_by_original: true }
    ]) {
      assert.deepStrictEqual(rulesOf({ a: { robot }, b: { robot, use } }), [])
    }
  })

  it("names Steps that exist, and no key that every object has", () => {
    for (const name of ["c", "toString", "__proto__", "constructor", ""]) {
      assert.deepStrictEqual(rulesOf({ a: { robot, use: name } }), [`a.use: ${unknown}`])
    }
  })

  it("of changes to a Template may name Steps of the Template, in a valid form", () => {
    assert.deepStrictEqual(rulesOf({ a: { robot, use: "stored elsewhere" } }, "changes"), [])
    assert.deepStrictEqual(rulesOf({ a: { robot, use: [5] } }, "changes"), [`a.use.0: ${form}`])
  })

  it("has references in order and with repetitions, and a problem for each invalid part", () => {
    const message = form
    assert.deepStrictEqual(StepRules.references({ use: ["a", { name: "b", as: "base" }, "a", 5, {}] }), [
      { name: "a", path: [0] },
      { name: "b", path: [1, "name"] },
      { name: "a", path: [2] },
      { path: [3], message },
      { path: [4], message }
    ])
    assert.deepStrictEqual(StepRules.references({ use: { steps: "a" } }), [{ name: "a", path: ["steps"] }])
    assert.deepStrictEqual(StepRules.references({ use: null }), [{ path: [], message }])
    assert.deepStrictEqual(StepRules.references({}), [])
    const seen = StepRules.references({ use: ["a", 5] }).map((found) => StepRules.isReference(found))
    assert.deepStrictEqual(seen, [true, false])
  })
})

describe("a circle", () => {
  it("is reported at each of its Steps, and not at those that lead to it or lie between two", () => {
    const steps = {
      alone: { robot, use: "alone" },
      a: { robot, use: "b" },
      b: { robot, use: ["a", "bridge"] },
      bridge: { robot, use: "alone" },
      after: { robot, use: "a" },
      free: { robot, use: ":original" }
    }
    const expected = ["a", "alone", "b"].map((name) => `${name}.use: ${circle}`)
    assert.deepStrictEqual(rulesOf(steps).toSorted(), expected)
  })

  it("of 20,000 Steps is found without a deep stack", () => {
    const count = 20_000
    const chain = Object.fromEntries(
      Array.from({ length: count }, (_, index) => [`s${index}`, { robot, use: index === 0 ? [] : `s${index - 1}` }])
    )
    assert.deepStrictEqual(rulesOf(chain), [])
  })
})

describe("options", () => {
  it("of the robots of the emulator are checked, unless the service replaces a variable in them", () => {
    assert.deepStrictEqual(
      rulesOf({
        a: { robot: "/file/hash", algorithm: "crc" },
        b: { robot: "/file/hash", algorithm: "${fields.algorithm}" },
        c: { robot: "/transloadit/store", path: "" },
        d: { robot: "/transloadit/store", path: "${file.name}" },
        e: { robot: "/emulator/wait" },
        f: { robot: "/emulator/fail", error: 5 }
      }),
      [
        "a.algorithm: Expected one of b2, md5, sha1, sha224, sha256, sha384, sha512",
        "c.path: Expected at least 1 character",
        "e.seconds: Expected a number of at least 0",
        "f.error: Expected at least 1 character"
      ]
    )
  })

  it("of an unknown robot are not", () => {
    assert.deepStrictEqual(rulesOf({ a: { robot: "/no/robot", algorithm: "crc", seconds: "x" } }), [])
  })
})

describe("what is no object", () => {
  it("is one problem", () => {
    for (const steps of [undefined, null, [], "a"])
      assert.deepStrictEqual(rulesOf(steps), [": Expected an object of Steps"])
    for (const step of [null, [], "a"]) assert.deepStrictEqual(rulesOf({ a: step }), ["a: Expected an object"])
  })
})
