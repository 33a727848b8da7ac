/**
 * What a user must check if a request did not reach the Assembly Processing Service: ASSEMBLY_BASE_URL, the proxy, the
 * certificate or the network.
 */
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Process from "node:process"
import * as Invocation from "./invocation.ts"

/**
 * How requests reach the service, and how the user runs this program. `baseUrl` is undefined if ASSEMBLY_BASE_URL is not
 * set or is not a URL. `proxyOf` is the proxy of the requests to a host.
 */
export interface Address {
  readonly baseUrl?: URL | undefined
  readonly proxyOf?: ((host: string) => Route | undefined) | undefined
  readonly program?: string | undefined
}

/** The address from ASSEMBLY_BASE_URL and the variables that name a proxy. */
export const current: Effect.Effect<Address> = Effect.gen(function* () {
  const text = yield* Effect.orElseSucceed(Config.String("ASSEMBLY_BASE_URL"), () => "")
  const url = URL.canParse(text) ? new URL(text) : undefined
  return {
    baseUrl: url?.host === "" ? undefined : url,
    proxyOf: (host) => {
      const target = `${url?.protocol ?? "https:"}//${host}`
      return URL.canParse(target) ? routeOf(new URL(target), Process.env) : undefined
    },
    program: yield* Invocation.Program
  }
})

const kept = new WeakMap<object, Address>()

/** Keeps the address of a program for its failure, because a profile may have set it only for this program. */
export const keeping = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.tapError(run, (error) =>
    Effect.map(current, (address) => void (Predicate.isObjectKeyword(error) && kept.set(error, address)))
  )

/** The address of the program that failed with an error, or of the variables. */
export const of = (error: unknown): Effect.Effect<Address> => {
  const address = Predicate.isObjectKeyword(error) ? kept.get(error) : undefined
  return address === undefined ? current : Effect.succeed(address)
}

/** The fields of an error that show how far its request came. */
export interface Failure {
  readonly _tag: string
  readonly code?: string | undefined
  readonly host?: string | undefined
  readonly operation?: string | undefined
  readonly status?: number | undefined
}

/** A command that the user can paste into the shell. */
export const command = ({ program = "assembly" }: Address, args: string): string => `${program} ${args}`

const hostOf = ({ host }: Failure, { baseUrl }: Address): string => host ?? baseUrl?.host ?? "this service"

/** Whether a request went to ASSEMBLY_BASE_URL. Uploads and results may have hosts of their own. */
const isOfBaseUrl = ({ host, operation = "" }: Failure, { baseUrl }: Address): boolean =>
  !operation.startsWith("Results.") && (host === undefined || baseUrl === undefined || host === baseUrl.host)

const settingOf = (failure: Failure, address: Address): string =>
  isOfBaseUrl(failure, address) ? "ASSEMBLY_BASE_URL" : "the network"

const pathOf = ({ baseUrl }: Address): string => (baseUrl?.pathname ?? "/").replace(/\/+$/, "")

const unknownHost = /^(?:ENOTFOUND|EAI_AGAIN|EAI_NODATA)$/
const closed = /^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|ConnectionClosed)$/
const silent = /^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/
const certificate = /CERT|TLS|SSL|SIGNATURE|ISSUER/

/** A handshake with a server that does not speak TLS at all. */
const notTls = /^(?:EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST)$/

/** The codes of undici for a proxy that does not open a tunnel, whose errors have no status. */
const noTunnel = /^UND_ERR_(?:ABORTED|PRX_)/

/** The code of undici for a request without TLS to which a proxy responded with 407. */
const noName = "UND_ERR_INVALID_ARG"

/** The hosts of this machine: only for these hosts, ASSEMBLY_BASE_URL may begin with `http://`. */
const loopback = /^(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/

/** What to do if the proxy is the cause: it refuses the request, or a connection to it or from it to the host failed. */
const throughProxy = (failure: Failure, host: string, { address, variable }: Route): string | undefined => {
  const { code = "", status } = failure
  if (status === 407 || code === noName)
    return `Set the name and the password in ${variable}: the proxy ${address} asks for them.`
  if (noTunnel.test(code)) {
    return `Check ${variable}: the proxy ${address} opens no connection to ${host}. It may need a name and a password.`
  }
  if (code === "ECONNREFUSED") {
    return `Check ${variable}: no proxy listens at ${address}. NO_PROXY names the hosts that need no proxy, such as ${host}.`
  }
  if (unknownHost.test(code)) return `Check ${variable}: the host of the proxy ${address} is unknown.`
  return closed.test(code) || silent.test(code)
    ? `Check ${variable}: the connection to ${host} goes through the proxy ${address}.`
    : undefined
}

const later = "Run the command again later."

const ofUnreachable = (failure: Failure, address: Address): string => {
  const { code = "" } = failure
  const host = hostOf(failure, address)
  const setting = settingOf(failure, address)
  const isOwn = isOfBaseUrl(failure, address)
  if (unknownHost.test(code)) {
    const what = isOwn ? "the host in ASSEMBLY_BASE_URL, and the network" : "the network"
    return `Check ${what} of this machine.`
  }
  if (code === "ECONNREFUSED") return `Check ${setting}: no service listens at ${host}.`
  if (code.startsWith("HPE_")) return `Check ${setting}: the program that listens at ${host} does not speak HTTP.`
  if (notTls.test(code)) {
    const scheme = loopback.test(host) ? ", or the URL must begin with http://" : ""
    return `Check ${setting}: ${host} does not speak TLS. Another program may listen there${scheme}.`
  }
  if (certificate.test(code))
    return `Check ${setting}; NODE_EXTRA_CA_CERTS names a file with more certificates to trust.`
  if (closed.test(code) && isOwn) {
    const scheme = address.baseUrl?.protocol === "http:" ? ", or the URL must begin with https://" : ""
    return `Check the network and ASSEMBLY_BASE_URL: another program may listen at ${host}${scheme}.`
  }
  return silent.test(code)
    ? `Check ${setting}, and run the command again later.`
    : "Check the network, and run the command again."
}

const ofResponse = (failure: Failure, address: Address): string => {
  const { status = 0 } = failure
  const host = hostOf(failure, address)
  if (status === 407) return `Check ASSEMBLY_BASE_URL: a proxy answers at ${host}, and asks for a name and a password.`
  if (ServiceError.gatewayStatuses.has(status)) {
    return `Run the command again later, or check ASSEMBLY_BASE_URL: the service does not answer at ${host}.`
  }
  const path = pathOf(address)
  if (path !== "") {
    return `Check ASSEMBLY_BASE_URL: it has the path ${path}, and ${host} does not answer there as the Assembly Processing Service does.`
  }
  return status >= 300 && status < 400
    ? `Check ASSEMBLY_BASE_URL: ${host} redirects to another address, which the Assembly Processing Service does not do.`
    : `Check ASSEMBLY_BASE_URL: ${host} does not answer as the Assembly Processing Service does. Another program may listen there.`
}

/** Whether a response shows that ASSEMBLY_BASE_URL has a path below which there is no service. */
export const isWrongPath = (failure: Failure, address: Address): boolean =>
  failure.status === 404 && pathOf(address) !== "" && !(failure.code ?? "").endsWith("_NOT_FOUND")

/** Names the proxy, if there is one, because it may be the cause or may have answered instead of the host. */
const tellsProxy = (failure: Failure, address: Address, advice: string): string => {
  const host = hostOf(failure, address)
  const route = address.proxyOf?.(host)
  if (route === undefined) return advice
  const through = `${advice} The request went through the proxy ${route.address} (${route.variable}).`
  return throughProxy(failure, host, route) ?? through
}

/** What to do after a request that got no response, or after a token request that got a server error (5xx). */
export const unreachable = (failure: Failure, address: Address): string => {
  if (failure.status === undefined) return tellsProxy(failure, address, ofUnreachable(failure, address))
  return ServiceError.gatewayStatuses.has(failure.status)
    ? tellsProxy(failure, address, ofResponse(failure, address))
    : later
}

/** What to do after a request whose response did not arrive in time. */
export const late = (failure: Failure, address: Address): string =>
  tellsProxy(failure, address, `Check ${settingOf(failure, address)}, or run the command again later.`)

/** What to do after a response from ASSEMBLY_BASE_URL that is not a response of the service. */
export const unexpected = (failure: Failure, address: Address): string | undefined =>
  isOfBaseUrl(failure, address) ? tellsProxy(failure, address, ofResponse(failure, address)) : undefined

/** What to do after an error response, if ASSEMBLY_BASE_URL has a wrong path, or a proxy or a gateway has responded. */
export const refused = (failure: Failure, address: Address): string | undefined => {
  if (isWrongPath(failure, address)) return unexpected(failure, address)
  return ServiceError.gatewayStatuses.has(failure.status) ? later : undefined
}

/** A proxy, and the environment variable that names it. `address` contains no user and no password. */
export interface Route {
  readonly variable: string
  readonly address: string
}

type Env = Readonly<Record<string, string | undefined>>

/**
 * For each protocol, the variables that may name the proxy, of which the first one with a value counts. A request with TLS
 * uses the variables for HTTP if the variables for HTTPS name no proxy.
 */
const http = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]
const variables: Readonly<Record<string, ReadonlyArray<ReadonlyArray<string>>>> = {
  "http:": [http],
  "https:": [["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"], http]
}

/** A host without the brackets of IPv6 and without the dot at its end, in lower case. */
const bare = (host: string): string => host.toLowerCase().replaceAll(/^\[|(?<=.)\.$|\]$/g, "")

/** Whether an entry of NO_PROXY exempts a host. `*.example.com` exempts only the hosts below `example.com`. */
const exempts = (entry: string, host: string, port: string): boolean => {
  // An address of IPv6 with a port has brackets.
  const [, name = entry, only = port] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? []
  const suffix = bare(name.replace(/^\*?\./, ""))
  const isNamed = name === "*" || (host === suffix && !entry.startsWith("*")) || host.endsWith(`.${suffix}`)
  return isNamed && Number(only) === Number(port)
}

/** The proxy for requests to a URL. The result is undefined if the requests go to the host directly. */
export const routeOf = ({ hostname, port, protocol }: URL, env: Env): Route | undefined => {
  const exceptions = (env["no_proxy"] ?? env["NO_PROXY"] ?? "").split(/[,\s]/).filter((entry) => entry !== "")
  const target = port === "" ? (protocol === "https:" ? "443" : "80") : port
  if (exceptions.some((entry) => exempts(entry, bare(hostname), target))) return undefined
  return (variables[protocol] ?? [])
    .map((names) => names.find((name) => (env[name] ?? "") !== "") ?? "")
    .flatMap((variable) => {
      const value = env[variable] ?? ""
      return URL.canParse(value) ? [{ variable, address: new URL(value).origin }] : []
    })[0]
}
