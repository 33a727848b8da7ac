import * as ServiceOrigins from "@assembly-effect/schema/ServiceOrigins"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"
import * as EmulatorError from "../../EmulatorError.ts"
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

const checkPublicUrl = (url: string): Effect.Effect<string, EmulatorError.InvalidOption> => {
  const origin = ServiceOrigins.originOf(url)
  return origin !== undefined && /^https?:\/\/[^/?#]+\/?$/i.test(url)
    ? Effect.succeed(origin)
    : Effect.fail(
        new EmulatorError.InvalidOption({
          option: "publicUrl",
          value: url,
          rule: "an origin such as https://assembly.example.com, without a path"
        })
      )
}

const checkHost = (host: string): Effect.Effect<string, EmulatorError.InvalidOption> => {
  const hostname = hostnameOf(host)
  return hostname !== undefined && !host.includes("*") && hostname === host.toLowerCase().replace(/\.$/, "")
    ? Effect.succeed(hostname)
    : Effect.fail(
        new EmulatorError.InvalidOption({
          option: "allowedHosts",
          value: host,
          rule: "a host name such as assembly.example.com, without a scheme, a port and a *"
        })
      )
}

const make = Effect.fnUntraced(function* ({ allowedHosts = [], publicUrl }: Options, localUrl: string) {
  const baseUrl = publicUrl === undefined ? localUrl : yield* checkPublicUrl(publicUrl)
  const hostnames = new Set(yield* Effect.forEach(allowedHosts, checkHost))
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
})

export const layer = (
  options: Options
): Layer.Layer<Origin, EmulatorError.InvalidOption, HttpServer.HttpServer | Certificate.Certificate> =>
  Layer.effect(
    Origin,
    Effect.gen(function* () {
      const { files } = yield* Certificate.Certificate
      return yield* HttpServer.addressFormattedWith((address) =>
        make(options, files === undefined ? address : address.replace(/^http:/, "https:"))
      )
    })
  )
