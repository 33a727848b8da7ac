/**
 * Finds the proxy through which the HTTP client of this program sends a request. The rules are those of the
 * `EnvHttpProxyAgent` of undici, which does not tell which proxy it uses. All functions are pure.
 */

/** A proxy, and the environment variable that names it. `address` contains no user and no password. */
export interface Route {
  readonly variable: string
  readonly address: string
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * For each protocol, the pairs of variables that may name the proxy, in order of precedence. In a pair, the variable in
 * lower case takes precedence. A request with TLS uses the variables for HTTP if the variables for HTTPS name no proxy.
 */
const variables: Readonly<Record<string, ReadonlyArray<readonly [string, string]>>> = {
  "http:": [["http_proxy", "HTTP_PROXY"]],
  "https:": [
    ["https_proxy", "HTTPS_PROXY"],
    ["http_proxy", "HTTP_PROXY"]
  ]
}

/** A host without the brackets of IPv6 and without the dot at its end, in lower case. */
const bare = (host: string): string =>
  host
    .replace(/^\[(.+)\]$/, "$1")
    .replace(/^(.+)\.$/, "$1")
    .toLowerCase()

/** The host and the port of an entry of NO_PROXY. An address of IPv6 with a port has brackets. */
const split = (entry: string): readonly [host: string, port: string] => {
  const [, host = entry, port = ""] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? []
  return [host, port]
}

/** Whether an entry of NO_PROXY exempts a host. `*.example.com` exempts only the hosts below `example.com`. */
const exempts = (entry: string, host: string, port: string): boolean => {
  const [name, only] = split(entry)
  if (only !== "" && Number(only) !== Number(port)) return false
  if (name === "*") return true
  const suffix = bare(name.replace(/^\*?\./, ""))
  return (host === suffix && !entry.startsWith("*")) || host.endsWith(`.${suffix}`)
}

/** The proxy for requests to a URL. The result is undefined if the requests go to the host directly. */
export const routeOf = ({ hostname, port, protocol }: URL, env: Env): Route | undefined => {
  const exceptions = (env["no_proxy"] ?? env["NO_PROXY"] ?? "").split(/[,\s]/).filter((entry) => entry !== "")
  const host = bare(hostname)
  const target = port === "" ? (protocol === "https:" ? "443" : "80") : port
  if (exceptions.some((entry) => exempts(entry, host, target))) return undefined
  for (const [lower, upper] of variables[protocol] ?? []) {
    const variable = env[lower] === undefined ? upper : lower
    const value = env[variable] ?? ""
    if (URL.canParse(value)) return { variable, address: new URL(value).origin }
  }
  return undefined
}
