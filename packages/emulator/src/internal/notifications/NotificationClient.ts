import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import type * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import type * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { lookup, type LookupAddress } from "node:dns"
import type { LookupFunction } from "node:net"
import * as IpAddress from "../http/IpAddress.ts"

/** Where a request may go: to public hosts, to these and this machine, or to any. */
export type Reach = "public" | "loopback" | "any"

const places: Readonly<Record<Reach, ReadonlyArray<IpAddress.Place>>> = {
  public: ["public"],
  loopback: ["public", "loopback"],
  any: ["public", "loopback", "private"]
}

const isWithin = (reach: Reach, address: string): boolean => places[reach].includes(IpAddress.placeOf(address))

/** A host is not where the request may go. Nothing was sent, and no connection was made. */
export class OutOfReach extends Data.TaggedError("OutOfReach")<{ readonly hostname: string }> {}

/** The URL is not an absolute one of http or https, or it holds credentials, which `fetch` refuses as well. */
export class NotHttp extends Data.TaggedError("NotHttp") {}

/**
 * The requests that the emulator makes because a client asked for it, whatever that is: a notification, or an import.
 * Every one goes through here, so that none is a way into the network of this machine. Redirects are not followed.
 */
export class NotificationClient extends Context.Service<
  NotificationClient,
  {
    /** Sends a request to an absolute URL. The connection ends with the scope. */
    readonly execute: (
      reach: Reach,
      request: HttpClientRequest.HttpClientRequest
    ) => Effect.Effect<
      HttpClientResponse.HttpClientResponse,
      HttpClientError.HttpClientError | NotHttp | OutOfReach,
      Scope.Scope
    >
  }
>()("@assembly-effect/emulator/NotificationClient") {}

/** Finds all addresses of a name, as `dns.lookup` does. */
export type Resolve = (
  hostname: string,
  options: { readonly all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: Array<LookupAddress>) => void
) => void

/**
 * Finds the addresses that a connection is then made to: a name has no second chance to mean another machine (DNS
 * rebinding). Of several addresses those within reach are tried.
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
  // A connection that is kept would be used again by a request with less reach.
  const agent = yield* NodeHttpClient.makeAgent({ keepAlive: false, lookup: lookupWithin(reach, resolve) })
  const http = yield* Effect.provideService(NodeHttpClient.makeNodeHttp, NodeHttpClient.HttpAgent, agent)
  return HttpClient.withScope(http)
})

const isHttp = ({ password, protocol, username }: URL): boolean =>
  (protocol === "http:" || protocol === "https:") && username === "" && password === ""

const make = Effect.fnUntraced(function* (resolve: Resolve) {
  const clients = {
    public: yield* makeClient("public", resolve),
    loopback: yield* makeClient("loopback", resolve),
    any: yield* makeClient("any", resolve)
  }

  return NotificationClient.of({
    execute: Effect.fnUntraced(function* (reach, request) {
      const url = Option.filter(HttpClientRequest.toUrl(request), isHttp)
      if (Option.isNone(url)) return yield* new NotHttp()
      const { hostname } = url.value
      const address = IpAddress.ofHost(hostname)
      // No name is looked up for it.
      if (address !== undefined && !isWithin(reach, address)) return yield* new OutOfReach({ hostname })
      return yield* clients[reach].execute(request).pipe(
        Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
        Effect.mapError((error) => (error.cause instanceof OutOfReach ? error.cause : error))
      )
    })
  })
})

/** `resolve` is `dns.lookup` by default. */
export const layer = (resolve: Resolve = lookup): Layer.Layer<NotificationClient> =>
  Layer.effect(NotificationClient, make(resolve))
