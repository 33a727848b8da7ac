/**
 * Text that a client puts into the path of a request.
 */
import * as Schema from "effect/Schema"

/** The first rule that a text breaks, or undefined. */
const brokenRule = (text: string, allowsSlash: boolean): string | undefined => {
  if (text === "" || text.length > 255) return "1 to 255 characters"
  if (text === "." || text === "..") return "an id other than . and .."
  if (!allowsSlash && text.includes("/")) return "an id without slash"
  if (text.includes("\\")) return "an id without backslash"
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return "an id without control characters"
  return text.isWellFormed() ? undefined : "valid Unicode"
}

/**
 * An id or a name whose syntax the service does not document. The schema refuses an empty text, more than 255 UTF-16
 * code units, `.`, `..`, slashes (unless `allowsSlash`), backslashes, control characters and lone surrogates. The
 * client percent-encodes every text that the schema accepts.
 */
export const pathSegment = ({ allowsSlash = false }: { readonly allowsSlash?: boolean } = {}) =>
  Schema.String.check(
    Schema.makeFilter(
      (text) => {
        const rule = brokenRule(text, allowsSlash)
        return rule === undefined ? undefined : `Expected ${rule}`
      },
      { expected: "an id", arbitraryConstraint: { patterns: [{ source: "^[A-Za-z0-9_@ ?#%&+-]{1,40}$", flags: "" }] } }
    )
  )
