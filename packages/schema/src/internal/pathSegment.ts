/**
 * Text that a client puts into the path of a request.
 */
import * as Schema from "effect/Schema"
import { broken, ofName, type TextRule } from "./text.ts"

const rules: ReadonlyArray<TextRule> = [
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
    Schema.makeFilter((text) => broken(text, allowsSlash ? rules : [...rules, withoutSlash]), {
      expected: "an id",
      arbitraryConstraint: { patterns: [{ source: "^[A-Za-z0-9_@ ?#%&+-]{1,40}$", flags: "" }] }
    })
  )
