import { AssemblyClient } from "@assembly-effect/api"
import type { Assembly } from "@assembly-effect/schema"
import * as ServiceOrigins from "@assembly-effect/schema/unstable/ServiceOrigins"
import { UploadSource, UploadTarget } from "@assembly-effect/tus"
import { Effect, Result, Stream } from "effect"
import { setTimeout } from "node:timers/promises"
import type { Fault } from "./Fault.ts"
import * as TusServer from "./TusServer.ts"

/** Bytes that differ along the way. */
export const content = (size: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(size)
  for (let index = 0; index < size; index++) bytes[index] = (index * 31 + (index >> 8)) % 251
  return bytes
}

export const { sha256 } = TusServer

/** A stream of bytes in pieces. */
export const pieces = (bytes: Uint8Array, size: number): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
      bytes.subarray(index * size, (index + 1) * size)
    )
  )

/** Each kind of source of these bytes. */
export const kinds = (bytes: Uint8Array<ArrayBuffer>, piece = 50_000) => ({
  bytes: () => UploadSource.fromBytes(bytes),
  "a Blob": () => UploadSource.fromBlob(new Blob([bytes])),
  "a stream": () => UploadSource.fromStream(pieces(bytes, piece))
})

/** The target of a service at this origin. */
export const targetAt = (origin: string, assembly = `/assemblies/${"0".repeat(32)}`) =>
  UploadTarget.make({ tusUrl: `${origin}/resumable/files`, assemblySslUrl: origin + assembly })

/** A target to which no test sends anything, and its uploads. */
export const unused = Effect.runSync(
  UploadTarget.make({ tusUrl: "https://a.example.com/", assemblySslUrl: "https://a.example.com/assemblies/1" })
)
export const unusedUrl = (id: string) => Result.getOrThrow(UploadTarget.resolve(unused, `/resumable/files/${id}`))

/** Waits on the real clock until something is there. */
export const soon = (isThere: () => boolean): Effect.Effect<void> =>
  Effect.promise(async (signal) => {
    while (!isThere() && !signal.aborted) await setTimeout(5)
  })

export const options = {
  metadata: { filename: "a.bin", fieldname: "file" },
  retryDelay: "1 millis",
  stallTimeout: "30 seconds",
  finishTimeout: "1 minute"
} as const

/** A server that will meet these faults, and the target of uploads to it. */
export const make = Effect.fnUntraced(function* (faults: ReadonlyArray<Fault> = []) {
  const server = yield* TusServer.make
  server.faults.push(...faults)
  const target = yield* UploadTarget.make(server)
  return { server, target }
})

/** The SHA-256 of what the server holds. */
export const stored = (server: TusServer.TusServer, index = 0): Effect.Effect<string> =>
  Effect.promise(() => server.sha256(server.created.at(index)?.id ?? ""))

/** Provides a client of the service at this address, which sends nothing. */
export const withClientOf = (baseUrl: string, origins?: ReadonlyArray<string>) =>
  Effect.provideService(
    AssemblyClient.AssemblyClient,
    AssemblyClient.AssemblyClient.of({
      origins: Result.getOrThrow(ServiceOrigins.make(baseUrl, origins)),
      run: () => Effect.die(new Error("no operation is asked for")),
      open: () => Effect.die(new Error("no address is opened"))
    })
  )

/** The target that a Status names, for a client of the service at this address. */
export const fromStatus = (status: Assembly.Status, baseUrl: string, origins?: ReadonlyArray<string>) =>
  UploadTarget.fromAssembly(status).pipe(withClientOf(baseUrl, origins))
