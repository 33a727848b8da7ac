/**
 * What a user must check if a request did not reach the Assembly Processing Service: the address in ASSEMBLY_BASE_URL,
 * the proxy, the certificate or the network. All functions are pure.
 */
import * as ServiceError from "@assembly-effect/schema/ServiceError"
import type * as Proxy from "./proxy.ts"

/**
 * How requests reach the service, and how the user runs this program.
 *
 * - `baseUrl`: ASSEMBLY_BASE_URL. `baseUrl` is undefined if the variable is not set or is not a URL.
 * - `proxyOf`: the proxy of the requests to a host: its address without user and password, and the environment variable
 *   that names it.
 * - `program`: how the user runs this program, such as `npx --no-install assembly`. The default is `assembly`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Address {
  readonly baseUrl?: URL | undefined
  readonly proxyOf?: ((host: string) => { readonly variable: string; readonly address: string } | undefined) | undefined
  readonly program?: string | undefined
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

/** What a user must check about the host of a request: ASSEMBLY_BASE_URL or the network. */
const settingOf = (failure: Failure, address: Address): string =>
  isOfBaseUrl(failure, address) ? "ASSEMBLY_BASE_URL" : "the network"

const pathOf = ({ baseUrl }: Address): string => (baseUrl?.pathname ?? "/").replace(/\/+$/, "")

const isUnknownHost = (code: string): boolean => code === "ENOTFOUND" || code === "EAI_AGAIN" || code === "EAI_NODATA"

const closed = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "ConnectionClosed"])
const silent = new Set(["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT"])

/** The codes of a handshake with a server that does not speak TLS at all. */
const plain = new Set([
  "EPROTO",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST"
])

/**
 * Matches the codes of undici for a proxy that does not open a tunnel. These errors have no field with the status of
 * the proxy's response.
 */
const noTunnel = /^UND_ERR_(?:ABORTED|PRX_)/

/** The code of undici for a request without TLS to which a proxy responded with 407. */
const noName = "UND_ERR_INVALID_ARG"

/** Matches the hosts of this machine: only for these hosts, ASSEMBLY_BASE_URL may begin with `http://`. */
const loopback = /^(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$/

/**
 * What to do if the proxy refuses a request, or if the connection to the proxy, or from the proxy to the host, failed.
 * The result is undefined if the proxy is not the cause.
 */
const throughProxy = (failure: Failure, host: string, { address, variable }: Proxy.Route): string | undefined => {
  const { code = "", status } = failure
  if (status === 407 || code === noName)
    return `Set the name and the password in ${variable}: the proxy ${address} asks for them.`
  if (noTunnel.test(code)) {
    return `Check ${variable}: the proxy ${address} opens no connection to ${host}. It may need a name and a password.`
  }
  if (code === "ECONNREFUSED") {
    return `Check ${variable}: no proxy listens at ${address}. NO_PROXY names the hosts that need no proxy, such as ${host}.`
  }
  if (isUnknownHost(code)) return `Check ${variable}: the host of the proxy ${address} is unknown.`
  return closed.has(code) || silent.has(code)
    ? `Check ${variable}: the connection to ${host} goes through the proxy ${address}.`
    : undefined
}

/** Names the proxy after the advice, because the proxy may have answered instead of the host. */
const withProxy = (advice: string, { address, variable }: Proxy.Route): string =>
  `${advice} The request went through the proxy ${address} (${variable}).`

const later = "Run the command again later."

const ofUnreachable = (failure: Failure, address: Address): string => {
  const { code = "" } = failure
  const host = hostOf(failure, address)
  const setting = settingOf(failure, address)
  if (isUnknownHost(code)) {
    return isOfBaseUrl(failure, address)
      ? "Check the host in ASSEMBLY_BASE_URL, and the network of this machine."
      : "Check the network of this machine."
  }
  if (code === "ECONNREFUSED") return `Check ${setting}: no service listens at ${host}.`
  if (code.startsWith("HPE_")) return `Check ${setting}: the program that listens at ${host} does not speak HTTP.`
  if (plain.has(code)) {
    const scheme = loopback.test(host) ? ", or the URL must begin with http://" : ""
    return `Check ${setting}: ${host} does not speak TLS. Another program may listen there${scheme}.`
  }
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code))
    return `Check ${setting}; NODE_EXTRA_CA_CERTS names a file with more certificates to trust.`
  if (closed.has(code) && isOfBaseUrl(failure, address)) {
    const scheme = address.baseUrl?.protocol === "http:" ? ", or the URL must begin with https://" : ""
    return `Check the network and ASSEMBLY_BASE_URL: another program may listen at ${host}${scheme}.`
  }
  return silent.has(code)
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

const tellsProxy = (
  failure: Failure,
  address: Address,
  advise: (failure: Failure, address: Address) => string
): string => {
  const host = hostOf(failure, address)
  const route = address.proxyOf?.(host)
  if (route === undefined) return advise(failure, address)
  return throughProxy(failure, host, route) ?? withProxy(advise(failure, address), route)
}

/** What to do after a request that got no response, or after a token request that got a server error (5xx). */
export const unreachable = (failure: Failure, address: Address): string => {
  const { status } = failure
  if (status === undefined) return tellsProxy(failure, address, ofUnreachable)
  return ServiceError.gatewayStatuses.has(status) ? tellsProxy(failure, address, ofResponse) : later
}

/** What to do after a request whose response did not arrive in time. */
export const late = (failure: Failure, address: Address): string =>
  tellsProxy(failure, address, () => `Check ${settingOf(failure, address)}, or run the command again later.`)

/**
 * What to do after a response that is not a response of the service. The result is undefined if the request did not go
 * to ASSEMBLY_BASE_URL.
 */
export const unexpected = (failure: Failure, address: Address): string | undefined =>
  isOfBaseUrl(failure, address) ? tellsProxy(failure, address, ofResponse) : undefined

/**
 * What to do after an error response. The result is undefined, unless ASSEMBLY_BASE_URL has a wrong path, or the
 * response has a status of a proxy or a gateway (`ServiceError.gatewayStatuses`).
 */
export const refused = (failure: Failure, address: Address): string | undefined => {
  if (isWrongPath(failure, address)) return unexpected(failure, address)
  return ServiceError.gatewayStatuses.has(failure.status) ? later : undefined
}
