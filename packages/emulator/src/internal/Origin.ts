import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpServer from "effect/http/HttpServer"
import * as Layer from "effect/Layer"

/** Where the emulator is reached, and the addresses that it hands out. No base URL ends in a slash. */
export class Origin extends Context.Service<
  Origin,
  {
    readonly baseUrl: string
    readonly assemblyUrl: (assemblyId: string) => string
    readonly updatesUrl: (assemblyId: string) => string
    readonly tusUrl: string
    readonly uploadUrl: (uploadId: string) => string
  }
>()("@assembly-effect/emulator/Origin") {}

const make = (baseUrl: string): Origin["Service"] => ({
  baseUrl,
  assemblyUrl: (assemblyId) => `${baseUrl}/assemblies/${assemblyId}`,
  updatesUrl: (assemblyId) => `${baseUrl}/assemblies/${assemblyId}/updates`,
  tusUrl: `${baseUrl}/resumable/files/`,
  uploadUrl: (uploadId) => `${baseUrl}/resumable/files/${uploadId}`
})

/** The origin of the server that listens. */
export const layer: Layer.Layer<Origin, never, HttpServer.HttpServer> = Layer.effect(
  Origin,
  HttpServer.addressFormattedWith((address) => Effect.succeed(make(address)))
)
