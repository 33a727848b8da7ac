/**
 * What a user must check if a request did not reach the Assembly Processing Service: ASSEMBLY_BASE_URL, the proxy, the
 * certificate or the network.
 */
import * as SecureUrl from "@assembly-effect/schema/unstable/SecureUrl"
import * as ServiceError from "@assembly-effect/schema/unstable/ServiceError"
import * as Process from "node:process"
import { Config, Effect, Predicate } from "./effect.ts"

/**
 * How requests reach the service. `baseUrl` is undefined if ASSEMBLY_BASE_URL is not
 * set or is not a URL. `proxy` is the variable that may name a proxy.
 */
export interface Address {
  readonly baseUrl?: URL | undefined
  readonly proxy?: string | undefined
}

const proxies = ["https_proxy", "HTTPS_PROXY", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]

/** The address from ASSEMBLY_BASE_URL and the variables that name a proxy. */
export const current: Effect.Effect<Address> = Effect.gen(function* () {
  const text = yield* Effect.orElseSucceed(Config.String("ASSEMBLY_BASE_URL"), () => "")
  const url = URL.canParse(text) ? new URL(text) : undefined
  return {
    baseUrl: url?.host === "" ? undefined : url,
    proxy: proxies.find((name) => (Process.env[name] ?? "") !== "")
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

const hostOf = ({ host }: Failure, { baseUrl }: Address): string => host ?? baseUrl?.host ?? "this service"

/** Whether a request went to ASSEMBLY_BASE_URL. Uploads and results may have hosts of their own. */
const isOfBaseUrl = ({ host, operation = "" }: Failure, { baseUrl }: Address): boolean =>
  !operation.startsWith("Results.") && (host === undefined || baseUrl === undefined || host === baseUrl.host)

const settingOf = (failure: Failure, address: Address): string =>
  isOfBaseUrl(failure, address) ? "ASSEMBLY_BASE_URL" : "the network"

const pathOf = ({ baseUrl }: Address): string => (baseUrl?.pathname ?? "/").replace(/\/+$/, "")

const unknownHost = /^(?:ENOTFOUND|EAI_AGAIN|EAI_NODATA)$/
const silent = /^(?:ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT)$/

/** The program that listens does not speak HTTP, or not with the TLS of the URL. */
const other =
  /^(?:HPE_.*|ECONNRESET|EPIPE|UND_ERR_SOCKET|ConnectionClosed|EPROTO|ERR_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST))$/
const certificate = /CERT|TLS|SSL|SIGNATURE|ISSUER/

const later = "Run the command again later."

const ofUnreachable = (failure: Failure, address: Address): string => {
  const { code = "" } = failure
  const [host, setting] = [hostOf(failure, address), settingOf(failure, address)]
  const isOwn = isOfBaseUrl(failure, address)
  if (unknownHost.test(code)) {
    return `Check ${isOwn ? "the host in ASSEMBLY_BASE_URL, and " : ""}the network of this machine.`
  }
  if (code === "ECONNREFUSED") return `Check ${setting}: no service listens at ${host}.`
  if (other.test(code) && isOwn) {
    const { hostname = "", protocol } = address.baseUrl ?? {}
    // Only for the hosts of this machine, ASSEMBLY_BASE_URL may begin with `http://`.
    const scheme = protocol === "http:" ? "https://" : SecureUrl.isLoopback(hostname) ? "http://" : undefined
    const instead = scheme === undefined ? "" : `, or the URL must begin with ${scheme}`
    return `Check the network and ASSEMBLY_BASE_URL: another program may listen at ${host}${instead}.`
  }
  if (certificate.test(code))
    return `Check ${setting}; NODE_EXTRA_CA_CERTS names a file with more certificates to trust.`
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
  return path === ""
    ? `Check ASSEMBLY_BASE_URL: ${host} does not answer as the Assembly Processing Service does. Another program may listen there.`
    : `Check ASSEMBLY_BASE_URL: it has the path ${path}, and ${host} does not answer there as the Assembly Processing Service does.`
}

/** Whether a response shows that ASSEMBLY_BASE_URL has a path below which there is no service. */
export const isWrongPath = (failure: Failure, address: Address): boolean =>
  failure.status === 404 && pathOf(address) !== "" && !(failure.code ?? "").endsWith("_NOT_FOUND")

/** Names the variable of a proxy, because the proxy may be the cause, or may have answered instead of the host. */
const tellsProxy = ({ proxy }: Address, advice: string): string =>
  proxy === undefined ? advice : `${advice} The request may have gone through the proxy of ${proxy}.`

/** What to do after a request that got no response, or after a token request that got a server error (5xx). */
export const unreachable = (failure: Failure, address: Address): string => {
  if (failure.status === undefined) return tellsProxy(address, ofUnreachable(failure, address))
  return ServiceError.gatewayStatuses.has(failure.status) ? tellsProxy(address, ofResponse(failure, address)) : later
}

/** What to do after a request whose response did not arrive in time. */
export const late = (failure: Failure, address: Address): string =>
  tellsProxy(address, `Check ${settingOf(failure, address)}, or run the command again later.`)

/** What to do after a response from ASSEMBLY_BASE_URL that is not a response of the service. */
export const unexpected = (failure: Failure, address: Address): string | undefined =>
  isOfBaseUrl(failure, address) ? tellsProxy(address, ofResponse(failure, address)) : undefined

/** What to do after an error response, if ASSEMBLY_BASE_URL has a wrong path, or a proxy or a gateway has responded. */
export const refused = (failure: Failure, address: Address): string | undefined => {
  if (isWrongPath(failure, address)) return unexpected(failure, address)
  return ServiceError.gatewayStatuses.has(failure.status) ? later : undefined
}
