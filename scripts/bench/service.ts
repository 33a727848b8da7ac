/** The emulator, and clients of it, for several rows. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Harness from "./harness.ts"

/** The Auth Key of every emulator of the benchmark. */
export const credentials = { key: "bench", secret: Redacted.make("secret") }

/** The Layer that a program on Node uses by default, for the service at an origin. */
export const layerClient = (baseUrl: string) => AssemblyNode.layer({ baseUrl, ...credentials })

const toBenchError = (error: { readonly message: string }) => new Harness.BenchError(error.message)

/** Converts an error of an operation to a `BenchError`, which ends the benchmark. */
export const orFail = Effect.mapError(toBenchError)

/** The emulator in this process, and a client of it. */
export const layer = (options: Emulator.Options = {}) =>
  Layer.unwrap(Emulator.Emulator.useSync(({ baseUrl }) => layerClient(baseUrl))).pipe(
    Layer.provideMerge(Emulator.layer({ credentials, ...options }))
  )

/** The emulator in a separate process. It removes its temporary folder when the scope ends. */
export const separate = Harness.child(new URL("servers/service.ts", import.meta.url), { signal: "SIGTERM" })
