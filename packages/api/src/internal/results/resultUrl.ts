/**
 * The URLs of results: where a download starts, and where a redirect may lead.
 */
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

const decode = Schema.decodeUnknownOption(SecureUrl.SecureUrl)

const beforeQuery = (text: string): string => text.split(/[?#]/, 1)[0] ?? ""

/** A URL that a download may read. A query is permitted, because it may contain a signature for the storage service. */
const parse = (text: string, allowsHttp: boolean): URL | undefined => {
  if (Option.isNone(decode(beforeQuery(text))) || !URL.canParse(text)) return undefined
  const url = new URL(text)
  url.hash = ""
  return url.protocol === "https:" || allowsHttp ? url : undefined
}

const rule = (allowsHttp: boolean): string =>
  `Expected an https URL ${allowsHttp ? "(http on loopback only) " : ""}without user info`

const hasText = (text: string | null | undefined): text is string => typeof text === "string" && text !== ""

/** Whether a file has a URL. A file that no Step has exported may have no URL. */
export const hasUrl = ({ ssl_url, url }: Pick<Assembly.File, "ssl_url" | "url">): boolean =>
  hasText(ssl_url) || hasText(url)

/** The URL of a file. `ssl_url` takes precedence over `url`. The issue does not contain the URL. */
export const of = (
  { ssl_url, url }: Pick<Assembly.File, "ssl_url" | "url">,
  { allowsHttp, name }: { readonly allowsHttp: boolean; readonly name: string }
): Result.Result<URL, Issue> => {
  const field = hasText(ssl_url) ? "ssl_url" : "url"
  const text = field === "ssl_url" ? ssl_url : url
  if (!hasText(text)) {
    const why = `the Status has no URL for the file ${name}, for example because no Step has exported it; \`Results.downloadable\` returns only files with a URL`
    return Result.fail({ path: ["ssl_url"], message: `Expected a URL, got none: ${why}` })
  }
  const parsed = parse(text, allowsHttp)
  return parsed === undefined ? Result.fail({ path: [field], message: rule(allowsHttp) }) : Result.succeed(parsed)
}

/** Whether a status is a redirect to another URL. */
export const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status)

/** The target of a redirect. A redirect from https never leads to http. The failure describes the broken rule. */
export const redirect = (location: string | undefined, from: URL): Result.Result<URL, string> => {
  if (location === undefined) return Result.fail("a redirect without Location")
  if (!URL.canParse(location, from)) return Result.fail("a redirect to an invalid URL")
  const target = parse(new URL(location, from).href, from.protocol === "http:")
  return target === undefined
    ? Result.fail("a redirect to a URL that is not https, or has user info")
    : Result.succeed(target)
}
