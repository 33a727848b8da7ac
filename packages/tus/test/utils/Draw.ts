/**
 * Random values for tests, each from its seed.
 */
import { UploadSource } from "@assembly-effect/tus"
import { Effect, FileSystem, Random } from "effect"
import type * as Upload from "./Upload.ts"

const kibi = 1024
const mebi = 1024 * kibi

export const pick = <A>(items: ReadonlyArray<A>): Effect.Effect<A> =>
  Effect.map(Random.nextIntBetween(0, items.length - 1), (index) => items[index]!)

/** The size of a file from 1 to 64 MiB, mostly small; sometimes small enough to be sent with its creation. */
export const fileSize: Effect.Effect<number> = Effect.gen(function* () {
  const chance = yield* Random.nextIntBetween(0, 99)
  if (chance < 10) return yield* Random.nextIntBetween(1, 256 * kibi)
  if (chance < 85) return yield* Random.nextIntBetween(mebi, 4 * mebi)
  if (chance < 97) return yield* Random.nextIntBetween(4 * mebi, 16 * mebi)
  return yield* Random.nextIntBetween(16 * mebi, 64 * mebi)
})

/** The path of a file with these bytes, until the scope ends. */
export const path = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const fs = yield* FileSystem.FileSystem
  const file = yield* fs.makeTempFileScoped({ prefix: "draw-" })
  yield* fs.writeFile(file, bytes)
  return file
})

/** A file with these bytes, until the scope ends. */
export const file = (bytes: Uint8Array) => Effect.flatMap(path(bytes), (at) => UploadSource.fromPath(at))

/** How a file is sent: in one request, in chunks, in parts, with checksums. */
export const options: Effect.Effect<Pick<Upload.Options, "chunkSize" | "parallel" | "checksum">> = Effect.gen(
  function* () {
    return {
      chunkSize: yield* pick([undefined, undefined, mebi, 3 * mebi]),
      parallel: yield* pick([1, 1, 1, 3]),
      checksum: yield* pick([undefined, undefined, "sha256"] as const)
    }
  }
)

/** The number of each of them, as text. */
export const counts = (ends: ReadonlyArray<string>): string =>
  Object.entries(Object.groupBy(ends, (end) => end))
    .map(([end, list]) => `${end} ${list?.length}`)
    .join(", ")
