/**
 * The origins that belong to one deployment of the service. A response may contain URLs of uploads, Statuses and update
 * streams. A client uses such a URL only if its origin belongs to the deployment.
 *
 * The origins are beyond the specification, which requires that a client validates the URL of an upload as a
 * capability, but names no host.
 */
import * as Result from "effect/Result"
import type { Issue } from "../InvalidRequest.ts"
import { isLoopback } from "./SecureUrl.ts"

/**
 * The origin of the public service, and the pattern for the origins of its cells. A cell is a part of the service with
 * its own host, `api2-<cell>.transloadit.com`. The URLs in one Status may name several cells. The service may move an
 * upload to another cell, so the Location of an upload may name another cell than the `tus_url` in the Status.
 *
 * The pattern comes from Statuses in the public fixtures of `@transloadit/node` 4.12.0.
 *
 * @since 0.1.0
 * @category utilities
 */
export const publicService = {
  origin: "https://api2.transloadit.com",
  cells: "https://api2-*.transloadit.com"
} as const

const TypeId = "~@assembly-effect/schema/unstable/ServiceOrigins"

/**
 * Origins, and patterns of origins, in normalized form. Only {@link make} creates a value of this type.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServiceOrigins {
  readonly [TypeId]: typeof TypeId
  /** Normalized origins and patterns. The first entry is the origin of the base URL. */
  readonly entries: readonly [string, ...ReadonlyArray<string>]
  /** The path of the base URL without a slash at its end: the prefix that a proxy adds to every path. */
  readonly prefix: string
}

const labels = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"

/** Matches what `*` may stand for: it begins and ends with a letter or digit, and is no encoded name of Unicode. */
const starred = new RegExp(`^(?!xn--)${labels}$`)

/**
 * Matches a pattern of origins: `https://`, a first label with one `*` and at least one letter or digit, at least two
 * more labels, and an optional port.
 */
const pattern = new RegExp(`^https://(?=[^.]*[a-z0-9])[a-z0-9-]*\\*[a-z0-9-]*(?:\\.${labels}){2,}(?::[0-9]{1,5})?$`)

const isOnLoopback = (origin: string): boolean => isLoopback(new URL(origin).hostname)

/**
 * Returns the normalized origin of an absolute http or https URL: in lower case, without a default port. Returns
 * undefined for any other text. Returns undefined also if the URL has user info, or a host or a port that is not in
 * canonical form (such as an encoded host or a hexadecimal IPv4 address), because a URL parser and a person may read
 * different hosts in such a URL.
 *
 * @since 0.1.0
 * @category utilities
 */
export const originOf = (url: string): string | undefined => {
  const written = /^https?:\/\/[^/?#]*/i.exec(url)?.[0].toLowerCase()
  if (written === undefined || !URL.canParse(written)) return undefined
  const { origin, protocol } = new URL(written)
  return written === origin || written === `${origin}${protocol === "https:" ? ":443" : ":80"}` ? origin : undefined
}

const entryRule =
  "an origin such as https://upload.example.com, or a pattern such as https://upload-*.example.com with one * and " +
  "a letter or digit in the first label, and at least two more labels"

/** Parses an origin or a pattern into normalized form. */
const parseEntry = (text: string, allowsLoopback: boolean): Result.Result<string, string> => {
  const lower = text.toLowerCase().replace(/\/$/, "")
  if (lower.includes("*")) {
    return pattern.test(lower) ? Result.succeed(lower.replace(/:443$/, "")) : Result.fail(`Expected ${entryRule}`)
  }
  const origin = originOf(lower)
  if (origin === undefined || /[/?#]/.test(lower.slice("https://".length))) return Result.fail(`Expected ${entryRule}`)
  if (origin.startsWith("http:") && !(allowsLoopback && isOnLoopback(origin))) {
    return Result.fail("Expected https (http on loopback only where the base URL is on loopback)")
  }
  return Result.succeed(origin)
}

const fromEntries = (
  own: string,
  prefix: string,
  additional: ReadonlyArray<string>
): Result.Result<ServiceOrigins, ReadonlyArray<Issue>> => {
  const found = new Set(siblingsOf(own))
  const problems: Array<Issue> = []
  additional.forEach((text, index) =>
    Result.match(parseEntry(text, isOnLoopback(own)), {
      onSuccess: (entry) => found.add(entry),
      onFailure: (message) => problems.push({ path: ["origins", index], message })
    })
  )
  found.delete(own)
  return problems.length === 0
    ? Result.succeed({ [TypeId]: TypeId, entries: [own, ...found], prefix })
    : Result.fail(problems)
}

/**
 * Makes the origins of the deployment at a base URL, which include the origin of that URL. For the public service, the
 * origins of its cells ({@link publicService}) are included. For `localhost`, the addresses `127.0.0.1` and `[::1]`
 * with the same scheme and port are included. `additional` are further origins or patterns of origins. The `*` of a
 * pattern stands for letters, digits and hyphens, with a letter or digit at both ends, but not for a name that begins
 * with `xn--`.
 *
 * **Gotchas**
 *
 * A pattern is only as safe as its domain. `https://x-*.co.uk` is a valid pattern, but anybody may register a name that
 * the pattern matches.
 *
 * @example
 * ServiceOrigins.make("https://api.example.com", ["https://upload-*.example.com"])
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  baseUrl: string,
  additional: ReadonlyArray<string> = []
): Result.Result<ServiceOrigins, ReadonlyArray<Issue>> => {
  const own = originOf(baseUrl)
  if (own === undefined)
    return Result.fail([{ path: ["baseUrl"], message: "Expected an absolute https URL with a canonical host" }])
  return fromEntries(own, /^https?:\/\/[^/?#]+((?:\/[A-Za-z0-9_~-]+)*)\/*$/i.exec(baseUrl)?.[1] ?? "", additional)
}

/**
 * Adds further origins or patterns of origins to the origins of a deployment.
 *
 * @since 0.1.0
 * @category combinators
 */
export const extend = (
  { entries: [own, ...known], prefix }: ServiceOrigins,
  additional: ReadonlyArray<string>
): Result.Result<ServiceOrigins, ReadonlyArray<Issue>> => fromEntries(own, prefix, [...known, ...additional])

/**
 * The origins that belong to a base URL in addition to its own origin. A client that connects to `localhost` may reach
 * `127.0.0.1` or `[::1]`, so a service on `localhost` may name either address in its URLs. A base URL with an IP
 * address refers only to the server at that address, so `localhost` is not added.
 */
const siblingsOf = (own: string): ReadonlyArray<string> => {
  if (isPublic(own)) return [publicService.origin, publicService.cells]
  const { hostname } = new URL(own)
  return hostname === "localhost" ? ["127.0.0.1", "[::1]"].map((address) => own.replace(hostname, address)) : []
}

const matches = (entry: string, origin: string): boolean => {
  const [before = "", after] = entry.split("*")
  if (after === undefined) return entry === origin
  return (
    origin.startsWith(before) &&
    origin.endsWith(after) &&
    origin.indexOf(".") <= "https://".length + 63 &&
    starred.test(origin.slice(before.length, origin.length - after.length))
  )
}

/**
 * Whether an origin is that of the public service or of one of its cells.
 *
 * @since 0.1.0
 * @category predicates
 */
export const isPublic = (origin: string): boolean =>
  origin === publicService.origin || matches(publicService.cells, origin)

/**
 * The path of a URL of the service without the prefix that a proxy has added.
 *
 * @since 0.1.0
 * @category utilities
 */
export const withoutPrefix = ({ prefix }: ServiceOrigins, path: string): string =>
  path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path

/** Matches the URL of the Status of an Assembly. The service may be mounted below a path of its host. */
const statusPath = /^https?:\/\/[^/?#@]+(?:\/[A-Za-z0-9_~-]+)*\/assemblies\/([a-f0-9]{32})$/i

/**
 * Returns the Assembly id in a Status URL. Returns undefined if the URL is not a Status URL, or has user info, a query,
 * a fragment, an encoded segment or a dot segment.
 *
 * @since 0.1.0
 * @category utilities
 */
export const assemblyIdAt = (url: string): string | undefined => statusPath.exec(url)?.[1]

/**
 * Whether the origin of a URL belongs to the deployment. Default ports and case are ignored. The result is false if
 * {@link originOf} returns undefined for the URL.
 *
 * @since 0.1.0
 * @category utilities
 */
export const includes = ({ entries }: ServiceOrigins, url: string): boolean => {
  const origin = originOf(url)
  return origin !== undefined && entries.some((entry) => matches(entry, origin))
}
