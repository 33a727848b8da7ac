import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Option from "effect/Option"
import { lookup, type LookupAddress } from "node:dns"
import type { LookupFunction } from "node:net"
import * as IpAddress from "../http/ipAddress.ts"

/** The hosts that a request may reach. `public`: only public hosts; `loopback`: also this machine; `any`: all hosts. */
export type Reach = "public" | "loopback" | "any"

const places: Readonly<Record<Reach, ReadonlyArray<IpAddress.Place>>> = {
  public: ["public"],
  loopback: ["public", "loopback"],
  any: ["public", "loopback", "private"]
}

const isWithin = (reach: Reach, address: string): boolean => places[reach].includes(IpAddress.placeOf(address))

/** The host is not allowed. No connection was made. */
class OutOfReach extends Data.TaggedError("OutOfReach")<{ readonly hostname: string }> {}

/** The URL is not an absolute http or https URL, or it contains credentials, which `fetch` refuses too. */
class NotHttp extends Data.TaggedError("NotHttp") {}

/** Resolves a name to all its addresses, like `dns.lookup`. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: Array<LookupAddress>) => void
) => void

/**
 * Resolves a name and keeps the allowed addresses. The connection uses only these addresses, because a second
 * look-up could return a different address (DNS rebinding).
 */
const lookupWithin =
  (reach: Reach, resolve: Resolve): LookupFunction =>
  (hostname, options, callback) =>
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, [])
      const within = addresses.filter(({ address }) => isWithin(reach, address))
      const [first] = within
      if (first === undefined) return callback(new OutOfReach({ hostname }), [])
      if (options.all === true) callback(null, within)
      else callback(null, first.address, first.family)
    })

const makeClient = Effect.fnUntraced(function* (reach: Reach, resolve: Resolve) {
  // Without keep-alive, every request opens a new connection, so that the addresses of the host are checked each time.
  const agent = yield* NodeHttpClient.makeAgent({ keepAlive: false, lookup: lookupWithin(reach, resolve) })
  const http = yield* Effect.provideService(NodeHttpClient.makeNodeHttp, NodeHttpClient.HttpAgent, agent)
  return HttpClient.withScope(http)
})

const isHttp = ({ password, protocol, username }: URL): boolean =>
  (protocol === "http:" || protocol === "https:") && username === "" && password === ""

/**
 * Sends requests to URLs that a client has chosen, such as a `notify_url`. All these requests use this client, because
 * it refuses hosts that the request may not reach. Redirects are not followed. `resolve` is `dns.lookup` by default.
 */
export const make = Effect.fnUntraced(function* (resolve: Resolve = lookup) {
  const clients = {
    public: yield* makeClient("public", resolve),
    loopback: yield* makeClient("loopback", resolve),
    any: yield* makeClient("any", resolve)
  }

  return {
    /** Sends a request to an absolute URL. The connection closes with the scope. */
    execute: Effect.fnUntraced(function* (reach: Reach, request: HttpClientRequest.HttpClientRequest) {
      const url = Option.filter(HttpClientRequest.toUrl(request), isHttp)
      if (Option.isNone(url)) return yield* new NotHttp()
      const { hostname } = url.value
      const address = IpAddress.ofHost(hostname)
      // This function checks an IP address, because `lookupWithin` checks only host names.
      if (address !== undefined && !isWithin(reach, address)) return yield* new OutOfReach({ hostname })
      return yield* clients[reach].execute(request).pipe(
        Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
        Effect.mapError((error) => (error.cause instanceof OutOfReach ? error.cause : error))
      )
    })
  }
})
