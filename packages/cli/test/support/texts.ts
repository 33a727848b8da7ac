import { Arbitrary, Schema } from "effect"

/**
 * Characters that a simple layout measures wrongly: wide, combining, emoji, controls, escapes, changes of direction.
 */
const pieces = ["Z9", "e\u0301", "ファ", "漢字", "👩‍👩‍👧", "🇦🇹", "\u001b[31m", "\u001b[2J"].concat(
  Array.from("a ü한👍…\n\t\u0007\u009b\u202e\u2028\ud800")
)

/** Random texts that are difficult for a terminal. */
export const text: Arbitrary.Arbitrary<string> = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength: 30 }),
  (parts) => parts.join("")
)

/** The width of a terminal, in cells. */
export const columns = (minimum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum: 140 }))

/** Characters that move the cursor or start a sequence. */
// oxlint-disable-next-line no-control-regex -- control characters are what this is about
export const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e]/
