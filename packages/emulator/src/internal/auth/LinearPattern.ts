import * as Result from "effect/Result"
import { RE2JS } from "re2js"

/** Characters of a pattern and of a text. */
const maxPattern = 256
const maxText = 2048

/** What the counted repetitions of a pattern may sum up to, and the instructions that it may become. */
const maxRepetitions = 1000
const maxProgram = 2000

const repetitions = (pattern: string): number =>
  [...pattern.matchAll(/\{(\d+)/g)].reduce((sum, [, count]) => sum + Number(count), 0)

const compile = (pattern: string) => Result.try(() => RE2JS.compile(RE2JS.translateRegExp(pattern)))

/**
 * Whether a text matches the regular expression of a client, in time that grows with the product of their lengths: one
 * that goes back, as JavaScript's own does, takes for ever with `^(a+)+$`. No text matches a pattern that needs going back
 * (back-references, look-around), or that is too long for a product that nobody notices.
 */
export const matches = (pattern: string, text: string): boolean => {
  if (pattern.length > maxPattern || text.length > maxText || repetitions(pattern) > maxRepetitions) return false
  return Result.match(compile(pattern), {
    onFailure: () => false,
    onSuccess: (compiled) => compiled.programSize() <= maxProgram && compiled.test(text)
  })
}
