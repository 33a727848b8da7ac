/**
 * URLs that may receive a credential or a file.
 */
import * as Schema from "effect/Schema"

/**
 * Whether a host name, as in `URL.hostname`, is `localhost`, `[::1]` or an IPv4 address of `127.0.0.0/8`.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)

/** The message of the first rule of secure URLs that a text breaks, or undefined. */
const brokenRule = (text: string): string | undefined => {
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters on purpose
  if (/[\s\\\u0000-\u001f\u007f-\u009f]/.test(text)) {
    return "Expected a URL without white space, backslash and control characters"
  }
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return "Expected an absolute http or https URL"
  const url = new URL(text)
  if (url.username !== "" || url.password !== "" || text.split("/")[2]?.includes("@") === true) {
    return "Expected a URL without user info"
  }
  if (text.includes("?") || text.includes("#")) return "Expected a URL without query and fragment"
  if (url.protocol === "http:" && !isLoopback(url.hostname)) return "Expected https (http only on loopback)"
  return undefined
}

const isSecureUrl = Schema.makeFilter(brokenRule, {
  expected: "an https URL",
  arbitraryConstraint: { patterns: [{ source: "^https://[a-z]{1,8}\\.example$", flags: "" }] }
})

/**
 * An absolute https URL, or an http URL on a loopback address. The URL has no user info, query, fragment, white space,
 * backslash or control character. The base URL of the service and every upload URL are checked with this schema, so
 * credentials, tokens and files are sent only over https or to a loopback address.
 *
 * Clause: spec.md, "Authentication": credentials and tokens are secret. The rules for the URL are our own, because the
 * specification has none.
 *
 * @example `https://api2.example.com`, `http://127.0.0.1:8080`
 *
 * @since 0.1.0
 * @category schemas
 */
export const SecureUrl = Schema.String.check(isSecureUrl).pipe(Schema.brand("SecureUrl"))
/**
 * @since 0.1.0
 * @category models
 */
export type SecureUrl = typeof SecureUrl.Type
