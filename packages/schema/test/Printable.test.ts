import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"

const unprintable = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u

describe("Printable", () => {
  it("shows control sequences as text", () => {
    assert.strictEqual(Printable.escape("a\u001b[2Jb\u202Ec\u009bd\ne\u2028"), "a\\x1b[2Jb\\u202ec\\x9bd\\x0ae\\u2028")
    assert.strictEqual(Printable.escape("\ud800"), "\ufffd")
    assert.strictEqual(Printable.escape("naïve 👩‍👩‍👧 日本"), "naïve 👩‍👩‍👧 日本")
  })

  it.effect.prop(
    "leaves no control sequence, in text and in JSON",
    { text: Schema.String, character: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0x2100 })) },
    ({ character, text }) =>
      Effect.sync(() => {
        const hostile = text + String.fromCodePoint(character) + text
        assert.isFalse(unprintable.test(Printable.escape(hostile)))
        const json = Printable.escapeJson(JSON.stringify({ [hostile]: hostile }, null, 2))
        assert.isFalse(unprintable.test(json.replaceAll("\n", "")))
        assert.deepStrictEqual(JSON.parse(json), { [hostile]: hostile })
      })
  )
})
