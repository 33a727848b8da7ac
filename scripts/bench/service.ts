/** The emulator, and clients of it, for several rows. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Harness from "./harness.ts"

/** The Auth Key of every emulator of the benchmark. */
export const credentials = { key: "bench", secret: Redacted.make("secret") }

/** Converts an error of a Layer to a `BenchError`, which ends the benchmark. */
export const orFail = Layer.catch((error: { readonly message: string }) =>
  Layer.effectContext(Effect.fail(new Harness.BenchError(error.message)))
)

/** The Layer that a program on Node uses by default, for the service at an origin. */
export const layerClient = (baseUrl: string) => AssemblyNode.layer({ baseUrl, ...credentials }).pipe(orFail)

/** The emulator in this process, and a client of it. */
export const layer = Layer.unwrap(Emulator.Emulator.useSync(({ baseUrl }) => layerClient(baseUrl))).pipe(
  Layer.provideMerge(orFail(Emulator.layer({ credentials })))
)

/** The origin of an emulator in a separate process. It removes its temporary folder when the scope ends. */
export const separate = Effect.map(
  Harness.child(new URL("servers/service.ts", import.meta.url), { signal: "SIGTERM" }),
  ({ port }) => `http://127.0.0.1:${port}`
)
