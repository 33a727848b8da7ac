import * as Effect from "effect/Effect"
import type * as Headers from "effect/http/Headers"
import type * as FileStore from "../files/fileStore.ts"
import * as TusRefusal from "./tusRefusal.ts"

/**
 * The supported algorithms of the checksum extension (tus 1.0.0), and the sizes of their digests in bytes. Node uses
 * the same algorithm names.
 */
const sizes: ReadonlyMap<string, number> = new Map([
  ["sha1", 20],
  ["sha256", 32],
  ["md5", 16]
])

/** The value of `tus-checksum-algorithm`. */
export const algorithms = [...sizes.keys()].join(",")

/** Reads the optional `upload-checksum` header. */
export const read = (headers: Headers.Headers): Effect.Effect<FileStore.Checksum | undefined, TusRefusal.TusRefusal> =>
  Effect.suspend(() => {
    const header = headers["upload-checksum"]
    if (header === undefined) return Effect.succeed(undefined)
    const [algorithm = "", text = "", ...more] = header.split(" ")
    const size = sizes.get(algorithm)
    if (size === undefined) return Effect.fail(TusRefusal.refuse("unknownChecksum"))
    const digest = Buffer.from(text, "base64")
    return more.length === 0 && digest.length === size && digest.toString("base64") === text
      ? Effect.succeed({ algorithm, digest: digest.toString("hex") })
      : Effect.fail(TusRefusal.refuse("invalidChecksum"))
  })
