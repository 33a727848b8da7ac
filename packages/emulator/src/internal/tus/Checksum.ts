import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import type * as FileStore from "../files/FileStore.ts"
import * as TusRefusal from "./TusRefusal.ts"

/** The algorithms of the checksum extension (tus 1.0.0), which Node knows by the same names, and their bytes. */
const sizes: ReadonlyMap<string, number> = new Map([
  ["sha1", 20],
  ["sha256", 32],
  ["md5", 16]
])

/** The value of `tus-checksum-algorithm`. */
export const algorithms = [...sizes.keys()].join(",")

/** `upload-checksum` of a request, which may leave it out. */
export const read = (headers: Headers.Headers): Effect.Effect<FileStore.Checksum | undefined, TusRefusal.TusRefusal> =>
  Effect.suspend(() => {
    const header = headers["upload-checksum"]
    if (header === undefined) return Effect.succeed(undefined)
    const [algorithm = "", text = "", ...more] = header.split(" ")
    const size = sizes.get(algorithm)
    if (size === undefined) return Effect.fail(TusRefusal.unknownChecksum)
    const digest = Buffer.from(text, "base64")
    return more.length === 0 && digest.length === size && digest.toString("base64") === text
      ? Effect.succeed({ algorithm, digest: digest.toString("hex") })
      : Effect.fail(TusRefusal.invalidChecksum)
  })
