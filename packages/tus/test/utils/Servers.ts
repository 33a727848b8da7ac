/**
 * Two servers for the same tests: the emulator and an independent one. Both are reached through a proxy that injects
 * faults.
 */
import { Assemblies } from "@assembly-effect/api"
import { Emulator } from "@assembly-effect/emulator"
import { Assembly } from "@assembly-effect/schema"
import { UploadTarget } from "@assembly-effect/tus"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Context, Effect, Layer } from "effect"
import * as Emulated from "./Emulated.ts"
import type { Fault } from "./Fault.ts"
import * as Scene from "./Scene.ts"
import * as TcpProxy from "./TcpProxy.ts"

/** The place of one upload. */
export interface Place {
  readonly target: UploadTarget.UploadTarget
  /** The faults of its requests. */
  readonly faults: Array<Fault>
  /** The methods of its requests, in their order. */
  readonly requests: ReadonlyArray<string>
  /** The SHA-256 of the one file that arrived. */
  readonly sha256: Effect.Effect<string | null | undefined>
  /** The number of created uploads, without parts. */
  readonly created: Effect.Effect<number>
}

/** Loses the response to a processed request, after the given number of requests with its method. */
export const loseAnswer = ({ faults }: Place, method: "POST" | "PATCH", after: number): void => {
  const passed: Fault = { _tag: "SlowAnswer", method, millis: 0 }
  faults.push(...Array.from({ length: after }, () => passed), { _tag: "LostAnswer", method })
}

/** `@tus/server` with `@tus/file-store`. */
const independent = Effect.map(Scene.make(), ({ server, target }): Place => ({
  target,
  faults: server.faults,
  requests: server.requests,
  sha256: Effect.suspend(() => (server.created.length === 0 ? Effect.undefined : Scene.stored(server, -1))),
  created: Effect.sync(() => server.created.length - server.partials())
}))

/** Each place is an Assembly that waits for one file, of an emulator with its own proxy. */
const emulator = Effect.gen(function* () {
  const { authority, faults, requests, to } = yield* TcpProxy.make()
  // The emulator names the proxy, and this client does not go through it.
  const context = yield* Emulated.clientAt((_, localUrl) => localUrl).pipe(
    Layer.provideMerge(Emulator.layer({ publicUrl: `http://${authority}` })),
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.build
  )
  to.port = Number(new URL(Context.get(context, Emulator.Emulator).localUrl).port)
  const created = yield* Effect.provideContext(Assemblies.create({ numExpectedUploadFiles: 1 }), context)
  const id = Assembly.AssemblyId.make(created.assembly_id)
  const status = Effect.provideContext(Effect.orDie(Assemblies.get(id)), context)
  return {
    target: yield* UploadTarget.make({
      assemblySslUrl: created.assembly_ssl_url ?? "",
      tusUrl: created.tus_url ?? ""
    }),
    faults,
    requests,
    sha256: Effect.map(status, ({ uploads }) => uploads?.[0]?.sha256),
    created: Effect.map(status, ({ tus_uploads }) => tus_uploads?.length ?? 0)
  } satisfies Place
}).pipe(Effect.orDie)

/** Makes a place at each of them, by their names. */
export const places = { "the emulator": emulator, "@tus/server": independent }
