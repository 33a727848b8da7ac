import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Certificate from "./certificate.ts"
import * as IpAddress from "./ipAddress.ts"

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

const make = Effect.fnUntraced(function* (publicUrl: string | undefined, allowedHosts: ReadonlyArray<string> = []) {
  const { files } = yield* Certificate.Certificate
  const address = yield* HttpServer.addressFormattedWith(Effect.succeed)
  const localUrl = files === undefined ? address : address.replace(/^http:/, "https:")
  const baseUrl = ServiceOrigins.originOf(publicUrl ?? localUrl) ?? localUrl
  const hostnames = new Set(allowedHosts.map(hostnameOf))
  for (const url of [baseUrl, localUrl]) hostnames.add(new URL(url).hostname)
  return {
    /** The base of the URLs in responses: the option `publicUrl` of the emulator if given, else `localUrl`. */
    baseUrl,
    /** The URL where the server listens. */
    localUrl,
    assemblyUrl: (assemblyId: string) => `${baseUrl}/assemblies/${assemblyId}`,
    updatesUrl: (assemblyId: string) => `${baseUrl}/assemblies/${assemblyId}/updates`,
    tusUrl: `${baseUrl}/resumable/files/`,
    uploadUrl: (uploadId: string) => `${baseUrl}/resumable/files/${uploadId}`,
    /** The URL of a result: of a stored version of an asset, or of the bytes of an upload. */
    // The router limits the length of a path variable. Only the id decides which file the URL means.
    resultUrl: (id: string, filename: string) =>
      `${baseUrl}/results/${id}/${encodeURIComponent([...filename].slice(0, 255).join(""))}`,
    /** Whether the emulator accepts requests with this `Host`. */
    isHost: (host: string) => {
      const hostname = hostnameOf(host)
      return hostname !== undefined && (isLoopback(hostname) || hostnames.has(hostname))
    }
  }
})

/** The URLs of the emulator. Neither `baseUrl` nor `localUrl` has a trailing slash. */
export class Origin extends Context.Service<Origin>()("@assembly-effect/emulator/Origin", { make }) {}

export const layer = (...options: Parameters<typeof make>) => Layer.effect(Origin, make(...options))
