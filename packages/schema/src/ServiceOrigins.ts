/**
 * The origins that belong to one deployment of the service. URLs that an answer names, of uploads, Statuses and update
 * streams, are used only where their origin is one of these.
 *
 * Beyond the specification, which asks to validate such a URL as a capability and names no host.
 */
import * as Result from "effect/Result"
import { isLoopback } from "./internal/loopback.ts"

/**
 * The cells of the public service: a Status names `api2-<cell>.transloadit.com` for uploads, and a Location may name
 * another cell than `tus_url` (rebalancing).
 *
 * Source: Statuses in the public fixtures of `@transloadit/node` 4.12.0.
 *
 * @since 0.1.0
 * @category utilities
 */
export const publicService = {
  origin: "https://api2.transloadit.com",
  cells: "https://api2-*.transloadit.com"
} as const

const TypeId = "~@assembly-effect/schema/ServiceOrigins"

/**
 * Origins, and patterns of origins, in their normal form. Only {@link make} and {@link parse} make one.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServiceOrigins {
  readonly [TypeId]: typeof TypeId
  /** In the form that {@link parse} takes. The first one is the origin of the base URL. */
  readonly entries: readonly [string, ...ReadonlyArray<string>]
}

const labels = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"

/** A scheme, a first label with one `*` beside a literal, two more labels at least, and a port. */
const pattern = new RegExp(`^https://(?=[^.]*[a-z0-9])[a-z0-9-]*\\*[a-z0-9-]*(?:\\.${labels}){2,}(?::[0-9]{1,5})?$`)

const isOnLoopback = (origin: string): boolean => isLoopback(new URL(origin).hostname)

const scheme = /^https?:\/\//i
const defaultPorts: ReadonlyMap<string, string> = new Map([
  ["https:", ":443"],
  ["http:", ":80"]
])

/**
 * The origin of an absolute URL that is written as it is meant, in lower case and without a default port. An encoded
 * host, an IPv4 address in hexadecimal digits or user info has none: a parser would turn it into something else than
 * what was read.
 *
 * @since 0.1.0
 * @category utilities
 */
export const originOf = (url: string): string | undefined => {
  if (!scheme.test(url) || !URL.canParse(url)) return undefined
  const { origin, protocol } = new URL(url)
  const written = (/^[a-z]+:\/\/[^/?#]*/i.exec(url)?.[0] ?? "").toLowerCase()
  return written === origin || written === origin + (defaultPorts.get(protocol) ?? "") ? origin : undefined
}

const entryRule =
  "an origin such as https://upload.example.com, or a pattern such as https://upload-*.example.com with one * in the " +
  "first label, beside a literal, and two more labels"

/** An origin or a pattern in its normal form. */
const parseEntry = (text: string, allowsLoopback: boolean): Result.Result<string, string> => {
  const lower = text.toLowerCase().replace(/\/$/, "")
  if (lower.includes("*")) {
    return pattern.test(lower) ? Result.succeed(lower.replace(/:443$/, "")) : Result.fail(`Expected ${entryRule}`)
  }
  const origin = originOf(lower)
  if (
    origin === undefined ||
    (lower !== origin && lower !== origin + (defaultPorts.get(new URL(origin).protocol) ?? ""))
  ) {
    return Result.fail(`Expected ${entryRule}`)
  }
  if (origin.startsWith("http:") && !(allowsLoopback && isOnLoopback(origin))) {
    return Result.fail("Expected https (http on loopback only where the base URL is on loopback)")
  }
  return Result.succeed(origin)
}

/**
 * A broken rule: which of the additional entries, or the base URL without an index, and what is wrong with it.
 *
 * @since 0.1.0
 * @category models
 */
export interface InvalidOrigin {
  readonly index?: number
  readonly rule: string
}

const fromEntries = (
  own: string,
  additional: ReadonlyArray<string>
): Result.Result<ServiceOrigins, ReadonlyArray<InvalidOrigin>> => {
  const found = new Set<string>()
  const problems: Array<InvalidOrigin> = []
  additional.forEach((text, index) =>
    Result.match(parseEntry(text, isOnLoopback(own)), {
      onSuccess: (entry) => found.add(entry),
      onFailure: (rule) => problems.push({ index, rule })
    })
  )
  found.delete(own)
  return problems.length === 0 ? Result.succeed({ [TypeId]: TypeId, entries: [own, ...found] }) : Result.fail(problems)
}

/**
 * The origins of the deployment at a base URL: its own, for the public service its cells, and for `localhost` the two
 * addresses that it stands for, `127.0.0.1` and `[::1]`, with the same scheme and port. `additional` are further origins,
 * or patterns of origins.
 *
 * **Gotchas**
 *
 * A pattern is the deployment's decision: `https://x-*.co.uk` is a pattern as well, and everybody may register a name
 * that it matches.
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
): Result.Result<ServiceOrigins, ReadonlyArray<InvalidOrigin>> => {
  const own = originOf(baseUrl)
  if (own === undefined) return Result.fail([{ rule: "Expected an absolute https URL whose host is written plainly" }])
  return fromEntries(own, [...siblingsOf(own), ...additional])
}

/**
 * The origins that belong to a base URL besides its own. `localhost` stands for the two addresses, and a client that
 * connects to it may reach either, so a service there may name its address. The other way round it is no rule: who wrote
 * an address means the server at that one.
 */
const siblingsOf = (own: string): ReadonlyArray<string> => {
  if (isPublic(own)) return [publicService.origin, publicService.cells]
  const { hostname } = new URL(own)
  return hostname === "localhost" ? ["127.0.0.1", "[::1]"].map((address) => own.replace(hostname, address)) : []
}

const matches = (entry: string, origin: string): boolean => {
  const star = entry.indexOf("*")
  if (star === -1) return entry === origin
  const before = entry.slice(0, star)
  const after = entry.slice(star + 1)
  return (
    origin.startsWith(before) &&
    origin.endsWith(after) &&
    /^[a-z0-9-]+$/.test(origin.slice(before.length, origin.length - after.length))
  )
}

const isPublic = (origin: string): boolean => origin === publicService.origin || matches(publicService.cells, origin)

/** The path of the Status of one Assembly, as a service that sits below a path of its host writes it too. */
const statusPath = /^https?:\/\/[^/]+(?:\/[A-Za-z0-9_~-]+)*\/assemblies\/([a-f0-9]{32})$/i

/**
 * The id of the Assembly whose Status is at a URL that is written plainly: no query, no encoded and no dot segment.
 *
 * @since 0.1.0
 * @category utilities
 */
export const assemblyIdAt = (url: string): string | undefined => statusPath.exec(url)?.[1]

/**
 * Whether the origin of a URL belongs to the deployment. Default ports and case do not matter; a host that is not
 * written plainly never belongs.
 *
 * @since 0.1.0
 * @category utilities
 */
export const includes = ({ entries }: ServiceOrigins, url: string): boolean => {
  const origin = originOf(url)
  return origin !== undefined && entries.some((entry) => matches(entry, origin))
}
