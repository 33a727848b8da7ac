/** The emulator, clients of it, and an independent server, for several rows. */
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as AssemblyNode from "@assembly-effect/node/AssemblyNode"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { FileStore } from "@tus/file-store"
import { Server } from "@tus/server"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
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

/** A client of this emulator. */
export const client = Effect.flatMap(separate, (origin) => Layer.build(layerClient(origin)))

/** The mean time of a request with a client, over several runs one after another. */
export const meanMillis =
  (runs: number, context: Context.Context<Layer.Success<ReturnType<typeof layerClient>>>) =>
  <A>(request: Effect.Effect<A, { readonly message: string }, Layer.Success<ReturnType<typeof layerClient>>>) =>
    Harness.meanMillis(runs)(Harness.orFail(Effect.provideContext(request, context)))

/** `@tus/server` with `@tus/file-store` in this process, as in its documentation, until the scope ends. */
export const independent = Effect.gen(function* () {
  const directory = join(yield* Harness.folder, "files")
  yield* Harness.attempt(() => mkdir(directory))
  const tus = new Server({ path: "/resumable/files", datastore: new FileStore({ directory }) })
  return yield* Loopback.serve((request, response) => tus.handle(request, response))
})
