/**
 * Rules of texts that have a message each.
 */

/** A rule, and what it expects. */
export type TextRule = readonly [holds: (text: string) => boolean, expected: string]

/** The messages of the rules that a text breaks. */
export const broken = (text: string, all: ReadonlyArray<TextRule>): ReadonlyArray<string> =>
  all.filter(([holds]) => !holds(text)).map(([, expected]) => `Expected ${expected}`)

/** The rules of a name in a path, which is `what`. */
export const ofName = (what: string): ReadonlyArray<TextRule> => [
  [(text) => text !== "." && text !== "..", `${what} other than . and ..`],
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
  [(text) => !/[\u0000-\u001f\u007f-\u009f]/.test(text), `${what} without control characters`],
  [(text) => text.isWellFormed(), `${what} in valid Unicode`]
]
