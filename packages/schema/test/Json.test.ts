import * as Json from "@assembly-effect/schema/unstable/Json"
import { assert, describe, it } from "@effect/vitest"
import { Option, Result, Schema } from "effect"

const arrays = (levels: number) => "[".repeat(levels) + "]".repeat(levels)
const objects = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`

const tooDeep = Result.fail("nested deeper than 128 levels" as const)

describe("Json.parse", () => {
  it("gives the value", () => {
    const text = '{"a":[1,"\\"[[{",{"b":null}],"\\\\":"]"}'
    assert.deepStrictEqual(Json.parse(text), Result.succeed(JSON.parse(text)))
  })

  it("reports a text that is not JSON", () => {
    for (const text of ["", "{", '"', '"\\"', "[1,]", "undefined", "]".repeat(200)]) {
      assert.deepStrictEqual(Json.parse(text), Result.fail("not JSON"), text)
    }
  })

  it.each([
    ["arrays", arrays],
    ["objects", objects]
  ])("reads 128 levels of %s and not one more", (_, nest) => {
    assert.isTrue(Result.isSuccess(Json.parse(nest(128))))
    assert.deepStrictEqual(Json.parse(nest(129)), tooDeep)
  })

  it("reads 128 levels also where others open beside the deepest", () => {
    assert.isTrue(Result.isSuccess(Json.parse(`${"[".repeat(127)}[],[]${"]".repeat(127)}`)))
  })

  it("does not count the levels in a string without an end", () => {
    assert.deepStrictEqual(Json.parse(`["${"[".repeat(200)}`), Result.fail("not JSON"))
  })

  it("counts nested levels, not siblings", () => {
    assert.isTrue(Result.isSuccess(Json.parse(`[${Array.from({ length: 1000 }, () => arrays(100)).join()}]`)))
  })

  it("ignores brackets in a string, and escaped quotes at its end", () => {
    for (const inside of ["[".repeat(1000), `\\"${"[".repeat(1000)}`, `\\"\\"${"[".repeat(1000)}`, "\\\\"]) {
      assert.isTrue(Result.isSuccess(Json.parse(`["${inside}"]`)), inside.slice(0, 10))
    }
    assert.deepStrictEqual(Json.parse(`["\\\\",${arrays(128)}]`), tooDeep)
  })

  it("stops at the limit: 5 million levels are not parsed", () => {
    // A parser would read to the end and then find that the text is not JSON.
    assert.deepStrictEqual(Json.parse("[".repeat(5_000_000)), tooDeep)
  })
})

describe("Json.fromString", () => {
  const schema = Json.fromString(Schema.Struct({ a: Schema.Unknown }))

  it("decodes within the limit, and encodes", () => {
    assert.deepStrictEqual(Schema.decodeUnknownOption(schema)(`{"a":${arrays(127)}}`)._tag, "Some")
    assert.deepStrictEqual(Schema.encodeSync(schema)({ a: 1 }), '{"a":1}')
    assert.deepStrictEqual(Schema.decodeUnknownOption(schema)(`{"a":${arrays(128)}}`), Option.none())
  })
})
