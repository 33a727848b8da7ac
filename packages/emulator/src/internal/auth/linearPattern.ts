import * as Result from "effect/Result"
import { RE2JS } from "re2js"

/** The maximum lengths of a pattern and of a text, in characters. */
const maxPattern = 256
const maxText = 2048

/**
 * The maximum sum of the repetition counts in a pattern, such as 1000 in `a{1000}`, and the maximum number of
 * instructions in a compiled pattern.
 */
const maxRepetitions = 1000
const maxProgram = 2000

const repetitions = (pattern: string): number =>
  [...pattern.matchAll(/\{(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)

const compile = (pattern: string) => Result.try(() => RE2JS.compile(RE2JS.translateRegExp(pattern)))

/**
 * Returns whether a text matches a regular expression that a client has sent. The time is proportional to the product
 * of both lengths; the backtracking engine of JavaScript needs exponential time for a pattern such as `^(a+)+$`. The
 * result is false if the pattern or the text exceeds a maximum above, or if the pattern uses back-references or
 * look-around.
 */
export const matches = (pattern: string, text: string): boolean => {
  if (pattern.length > maxPattern || text.length > maxText || repetitions(pattern) > maxRepetitions) return false
  return Result.match(compile(pattern), {
    onFailure: () => false,
    onSuccess: (compiled) => compiled.programSize() <= maxProgram && compiled.test(text)
  })
}
