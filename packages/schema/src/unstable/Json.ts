/**
 * Parses untrusted JSON within limits.
 *
 * @example
 * import * as Json from "@assembly-effect/schema/unstable/Json"
 *
 * Json.parse('{"ok":"ASSEMBLY_COMPLETED"}') // Result.succeed({ ok: "ASSEMBLY_COMPLETED" })
 * Json.parse("[".repeat(1_000_000)) // Result.fail("nested deeper than 128 levels")
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * The maximum nesting depth of arrays and objects. Responses of the service have far fewer levels, and a recursive walk
 * over a value of this depth does not overflow the stack.
 *
 * @since 0.1.0
 * @category utilities
 */
export const maxDepth = 128

const quote = 0x22
const backslash = 0x5c
/** The codes of `[` and `{`. The code of each closing one is greater by 2. */
const bracket = 0x5b
const brace = 0x7b

/** Whether the character at an index is escaped: an odd number of backslashes precedes it. */
const isEscaped = (text: string, index: number): boolean => {
  let start = index
  while (text.charCodeAt(start - 1) === backslash) start--
  return (index - start) % 2 === 1
}

/** The index of the closing quote of the string that starts at `start`, or -1 if the string is not closed. */
const endOfString = (text: string, start: number): number => {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

/** Whether a text has at most `most` opening brackets and braces, including those in strings. */
const opensAtMost = (text: string, most: number): boolean => {
  let opened = 0
  for (const opening of ["{", "["]) {
    for (let index = text.indexOf(opening); index !== -1; index = text.indexOf(opening, index + 1)) {
      if (++opened > most) return false
    }
  }
  return true
}

/**
 * Whether the arrays and objects of a JSON text are nested at most `most` levels deep. The function scans the text
 * without recursion. The result may be true for a text that is not JSON. For such a text, a parser fails with a syntax
 * error before the parser is more than `most` levels deep.
 *
 * @example
 * Json.isWithin("[[]]", 1) // false
 *
 * @since 0.1.0
 * @category utilities
 */
export const isWithin = (text: string, most: number): boolean => {
  // Most texts have so few opening brackets that they cannot be too deep, and need no scan.
  if (opensAtMost(text, most)) return true
  let depth = 0
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code === quote) {
      index = endOfString(text, index)
      if (index === -1) return true
    } else if (code === bracket || code === brace) {
      if (++depth > most) return false
    } else if (code === bracket + 2 || code === brace + 2) depth--
  }
  return true
}

const isShallow = (text: string): boolean => isWithin(text, maxDepth)

/**
 * The reason why {@link parse} refuses a text.
 *
 * @since 0.1.0
 * @category models
 */
export type Problem = "not JSON" | `nested deeper than ${typeof maxDepth} levels`

const tooDeep: Problem = `nested deeper than ${maxDepth} levels`

/**
 * Parses a JSON text. The depth is checked first, because a parser takes about 2 seconds for 10 million levels, and a
 * recursive walk over so many levels overflows the stack.
 *
 * @since 0.1.0
 * @category utilities
 */
export const parse = (text: string): Result.Result<unknown, Problem> => {
  if (!isShallow(text)) return Result.fail(tooDeep)
  try {
    return Result.succeed(JSON.parse(text))
  } catch {
    return Result.fail("not JSON")
  }
}

/**
 * `Schema.fromJsonString` with the depth limit {@link maxDepth}.
 *
 * @example
 * Schema.decodeUnknownOption(Json.fromString(Schema.Struct({ size: Schema.Finite })))('{"size":3}')
 *
 * @since 0.1.0
 * @category utilities
 */
export const fromString = <S extends Schema.Constraint>(schema: S) =>
  Schema.String.check(Schema.makeFilter(isShallow, { expected: `JSON of at most ${maxDepth} levels` })).pipe(
    Schema.decodeTo(Schema.fromJsonString(schema))
  )
