/**
 * Rules of texts that have a message each, and texts that a client puts into the path of a request.
 */
import * as Schema from "effect/Schema"

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

/** The rules of an id or a name. */
const segment: ReadonlyArray<TextRule> = [
  [(text) => text !== "" && text.length <= 255, "1 to 255 characters"],
  [(text) => !text.includes("\\"), "an id without backslash"],
  ...ofName("an id")
]

const withoutSlash: TextRule = [(text) => !text.includes("/"), "an id without slash"]

/**
 * An id or a name whose syntax the service does not document. The schema refuses an empty text, more than 255 UTF-16
 * code units, `.`, `..`, slashes (unless `allowsSlash`), backslashes, control characters and lone surrogates. The
 * client percent-encodes every text that the schema accepts.
 */
export const pathSegment = ({ allowsSlash = false }: { readonly allowsSlash?: boolean } = {}) =>
  Schema.String.check(
    Schema.makeFilter((text) => broken(text, allowsSlash ? segment : [...segment, withoutSlash]), {
      expected: "an id",
      arbitraryConstraint: { patterns: [{ source: "^[A-Za-z0-9_@ ?#%&+-]{1,40}$", flags: "" }] }
    })
  )
