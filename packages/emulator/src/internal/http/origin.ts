import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Certificate from "./certificate.ts"
import * as IpAddress from "./ipAddress.ts"

/** The URLs of the emulator. Neither `baseUrl` nor `localUrl` has a trailing slash. */
export class Origin extends Context.Service<
  Origin,
  {
    /** The base of the URLs in responses: the option `publicUrl` of the emulator if given, else `localUrl`. */
    readonly baseUrl: string
    /** The URL where the server listens. */
    readonly localUrl: string
    readonly assemblyUrl: (assemblyId: string) => string
    readonly updatesUrl: (assemblyId: string) => string
    readonly tusUrl: string
    readonly uploadUrl: (uploadId: string) => string
    /** The URL of a result: of a stored version of an asset, or of the bytes of an upload. */
    readonly resultUrl: (id: string, filename: string) => string
    /** Whether the emulator accepts requests with this `Host`. */
    readonly isHost: (host: string) => boolean
  }
>()("@assembly-effect/emulator/Origin") {}

/** The name in a `Host` header, in lower case and without a trailing dot. */
const hostnameOf = (host: string): string | undefined => {
  const origin = ServiceOrigins.originOf(`http://${host}`)
  return origin === undefined ? undefined : new URL(origin).hostname.replace(/\.$/, "")
}

/**
 * Whether a host is this machine: a loopback IP address, `localhost`, or a subdomain of `localhost`. Other names are
 * never looked up in DNS, because an attacker can make a name of their own resolve to loopback (DNS rebinding).
 */
const isLoopback = (hostname: string): boolean => {
  const address = IpAddress.ofHost(hostname)
  return address === undefined
    ? hostname === "localhost" || hostname.endsWith(".localhost")
    : IpAddress.placeOf(address) === "loopback"
}

interface Options {
  readonly publicUrl?: string | undefined
  readonly allowedHosts?: ReadonlyArray<string> | undefined
}

/** The option `publicUrl` of the emulator. */
export const PublicUrl = Schema.String.check(
  Schema.makeFilter((url) => ServiceOrigins.originOf(url) !== undefined && /^https?:\/\/[^/?#]+\/?$/i.test(url), {
    expected: "an origin such as https://assembly.example.com, without a path"
  })
)

/** An entry of the option `allowedHosts` of the emulator. */
export const Host = Schema.String.check(
  Schema.makeFilter((host) => !host.includes("*") && hostnameOf(host) === host.toLowerCase().replace(/\.$/, ""), {
    expected: "a host name such as assembly.example.com, without a scheme, a port and a *"
  })
)

const make = ({ allowedHosts = [], publicUrl }: Options, localUrl: string) => {
  const baseUrl = ServiceOrigins.originOf(publicUrl ?? localUrl) ?? localUrl
  const hostnames = new Set(allowedHosts.map(hostnameOf))
  for (const url of [baseUrl, localUrl]) hostnames.add(new URL(url).hostname)
  return Origin.of({
    baseUrl,
    localUrl,
    assemblyUrl: (assemblyId) => `${baseUrl}/assemblies/${assemblyId}`,
    updatesUrl: (assemblyId) => `${baseUrl}/assemblies/${assemblyId}/updates`,
    tusUrl: `${baseUrl}/resumable/files/`,
    uploadUrl: (uploadId) => `${baseUrl}/resumable/files/${uploadId}`,
    // The router limits the length of a path variable. Only the id decides which file the URL means.
    resultUrl: (id, filename) => `${baseUrl}/results/${id}/${encodeURIComponent([...filename].slice(0, 255).join(""))}`,
    isHost: (host) => {
      const hostname = hostnameOf(host)
      return hostname !== undefined && (isLoopback(hostname) || hostnames.has(hostname))
    }
  })
}

export const layer = (options: Options): Layer.Layer<Origin, never, HttpServer.HttpServer | Certificate.Certificate> =>
  Layer.effect(
    Origin,
    Effect.gen(function* () {
      const { files } = yield* Certificate.Certificate
      return yield* HttpServer.addressFormattedWith((address) =>
        Effect.succeed(make(options, files === undefined ? address : address.replace(/^http:/, "https:")))
      )
    })
  )
