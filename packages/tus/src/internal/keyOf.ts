/**
 * The keys of uploads and jobs in a journal.
 */
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Hex from "effect/encoding/Hex"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import type * as UploadTarget from "../UploadTarget.ts"

const utf8 = new TextEncoder()

/** A digest of the identity of an upload or a job. */
export const digestOf = (parts: ReadonlyArray<Schema.Json>): Effect.Effect<string> =>
  Digest.Digest.use((digest) => digest.digest(Digest.sha256, utf8.encode(JSON.stringify(parts)))).pipe(
    Effect.map(Hex.encode),
    Effect.provide(Digest.layerWebCrypto)
  )

/**
 * The key of an upload: a digest of the URL of the Assembly, the identity and size of the bytes, the `filename`, the
 * `fieldname` and `file`. `file` is the index of the file in a job. Because of this index, two files with the same
 * bytes and names have different keys.
 *
 * @since 0.1.0
 * @category constructors
 */
export const keyOf = (
  target: UploadTarget.UploadTarget,
  upload: {
    readonly identity: string | undefined
    readonly size: bigint
    readonly filename: string
    readonly fieldname: string
    readonly file?: number | undefined
  }
): Effect.Effect<string> =>
  digestOf([
    Redacted.value(target.assemblySslUrl),
    upload.identity ?? null,
    String(upload.size),
    upload.filename,
    upload.fieldname,
    ...(upload.file === undefined ? [] : [upload.file])
  ])
