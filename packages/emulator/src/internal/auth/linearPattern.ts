import * as Result from "effect/Result"
import { RE2JS } from "re2js"

/** The maximum lengths of a pattern and of a text, in characters. */
const maxPattern = 256
const maxText = 2048

/**
 * The maximum sum of the lower repetition counts in a pattern, such as 10 in `a{10,20}`, and the maximum number of
 * instructions in a compiled pattern.
 */
const maxRepetitions = 1000
const maxProgram = 2000

const repetitions = (pattern: string): number =>
  [...pattern.matchAll(/\{(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)

const compile = (pattern: string) => Result.try(() => RE2JS.compile(RE2JS.translateRegExp(pattern)))

/**
 * Returns whether a text matches a regular expression that a client has sent. The time is at most proportional to the
 * length of the text times the number of instructions in the compiled pattern. The backtracking engine of JavaScript
 * needs exponential time for a pattern such as `^(a+)+$`. The result is false if the pattern or the text exceeds a
 * maximum above, or if the pattern is invalid or uses back-references or look-around.
 */
export const matches = (pattern: string, text: string): boolean => {
  if (pattern.length > maxPattern || text.length > maxText || repetitions(pattern) > maxRepetitions) return false
  return Result.match(compile(pattern), {
    onFailure: () => false,
    onSuccess: (compiled) => compiled.programSize() <= maxProgram && compiled.test(text)
  })
}
