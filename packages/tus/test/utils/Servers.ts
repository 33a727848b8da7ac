/**
 * Two servers for the same tests: the emulator, and one that nobody here wrote.
 */
import * as Assemblies from "@assembly-effect/api/Assemblies"
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as Emulator from "@assembly-effect/emulator/Emulator"
import * as Faults from "@assembly-effect/emulator/Faults"
import * as Assembly from "@assembly-effect/schema/Assembly"
import * as UploadTarget from "@assembly-effect/tus/UploadTarget"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { Fault } from "./Fault.ts"
import * as Scene from "./Scene.ts"

/** The place of one upload. */
export interface Place {
  readonly target: UploadTarget.UploadTarget
  /** Loses the answer to a request that is done, after so many of its method that are answered. */
  readonly loseAnswer: (method: "POST" | "PATCH", after: number) => Effect.Effect<void>
  /** Answers the next request of this method with a status instead of doing it. */
  readonly refuse: (method: "PATCH", status: number) => Effect.Effect<void>
  /** The SHA-256 of the one file that arrived. */
  readonly sha256: Effect.Effect<string | null | undefined>
  /** How many uploads were created, parts not counted. */
  readonly created: Effect.Effect<number>
  /** The largest upload that the server says it takes, in bytes. */
  readonly maxSize: bigint
  /** The checksum algorithms that the server offers. */
  readonly checksums: ReadonlyArray<string>
}

/** Makes a place for each test. */
export class Servers extends Context.Service<
  Servers,
  { readonly place: Effect.Effect<Place, UploadTarget.InvalidTarget, Scope.Scope> }
>()("@assembly-effect/tus/test/Servers") {}

/** `@tus/server` with `@tus/file-store`. */
const independent = Layer.succeed(Servers, {
  place: Effect.map(Scene.make(), ({ server, target }): Place => ({
    target,
    loseAnswer: (method, after) =>
      Effect.sync(() => {
        const passed: Fault = { _tag: "SlowAnswer", method, millis: 0 }
        server.faults.push(...Array.from({ length: after }, () => passed), { _tag: "LostAnswer", method })
      }),
    refuse: (method, status) => Effect.sync(() => void server.faults.push({ _tag: "Status", method, status })),
    sha256: Scene.stored(server),
    created: Effect.sync(() => server.created.length),
    maxSize: 1024n ** 3n,
    checksums: []
  }))
})

const api = Layer.unwrap(
  Effect.map(Emulator.Emulator, ({ baseUrl, credentials }) =>
    AssemblyClient.layer({ baseUrl }).pipe(
      Layer.provide(Authenticator.layerSigned()),
      Layer.provide(Credentials.layer(credentials))
    )
  )
)

/** Each place is an Assembly that waits for one file. */
const emulator = Layer.effect(
  Servers,
  Effect.gen(function* () {
    const faults = yield* Faults.Faults
    const context = yield* Effect.context<AssemblyClient.AssemblyClient>()
    return {
      place: Effect.gen(function* () {
        const created = yield* Effect.orDie(Assemblies.create({ numExpectedUploadFiles: 1 }))
        const id = Assembly.AssemblyId.make(created.assembly_id)
        const status = Effect.provideContext(Effect.orDie(Assemblies.get(id)), context)
        yield* Effect.addFinalizer(() => faults.clear)
        return {
          target: yield* UploadTarget.fromAssembly(created),
          loseAnswer: (method, after) =>
            Effect.gen(function* () {
              if (after > 0) yield* faults.inject(Faults.Fault.Delay({ method, duration: 0, times: after }))
              yield* faults.inject(Faults.Fault.LoseAnswer({ method }))
            }),
          refuse: (method, code) => faults.inject(Faults.Fault.RefuseEarly({ method, status: code })),
          sha256: Effect.map(status, ({ uploads }) => uploads?.[0]?.sha256),
          created: Effect.map(status, ({ tus_uploads }) => tus_uploads?.length ?? 0),
          maxSize: 2n ** 63n - 1n,
          checksums: ["sha1", "sha256", "md5"]
        } satisfies Place
      }).pipe(Effect.provideContext(context))
    }
  })
).pipe(Layer.provide(api), Layer.provide(Emulator.layer()), Layer.provide(NodeHttpClient.layerUndici))

export const layers = { "the emulator": emulator, "@tus/server": independent }
