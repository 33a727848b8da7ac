/**
 * Checksums of request bodies, if the server supports them. tus 1.0.0 (checksum) defines these checksums; the
 * specification of the service does not.
 */
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import type * as HttpClient from "effect/http/HttpClient"
import type { SourceFailed } from "./source.ts"
import * as Tus from "../Tus.ts"
import type { UploadTarget } from "../UploadTarget.ts"
import type { Emit } from "./events.ts"
import type { RequestOptions } from "./options.ts"
import type * as Outgoing from "./outgoing.ts"
import * as Pieces from "./pieces.ts"
import * as Policy from "./policy.ts"
import { inTime } from "./requests.ts"

/** The name of a checksum algorithm in tus 1.0.0. */
type Algorithm = NonNullable<RequestOptions["checksum"]>

const algorithms: { readonly [A in Algorithm]: Digest.Algorithm } = {
  sha1: Digest.sha1,
  sha256: Digest.sha256,
  sha384: Digest.sha384,
  sha512: Digest.sha512
}

/** Whether the server supports this algorithm. The request to the server is retried after a temporary failure. */
export const isOffered = (
  target: UploadTarget,
  algorithm: Algorithm,
  policy: Policy.Policy,
  emit: Emit
): Effect.Effect<boolean, Policy.RequestError, HttpClient.HttpClient> => {
  const pauseAfter = Policy.retrying(policy, emit)
  const discover = inTime(policy.stallTimeout, Tus.discover(target))
  const attempt = (failures: number): typeof discover =>
    discover.pipe(Effect.catch((error) => Effect.andThen(pauseAfter(failures, error), attempt(failures + 1))))
  return Effect.map(
    attempt(1),
    ({ checksumAlgorithms, extensions }) => extensions.includes("checksum") && checksumAlgorithms.includes(algorithm)
  )
}

/** Reads all bytes of a body into memory. `Outgoing` has already limited the body to `chunkSize` bytes. */
const read = (bytes: Outgoing.Body["bytes"]): Effect.Effect<Uint8Array, SourceFailed> =>
  "stream" in bytes ? Pieces.collect(bytes.stream, bytes.length) : Effect.succeed(bytes)

/** Converts a body to the bytes to send, and to their checksum if the upload has one. */
export type Seal = (
  body: Outgoing.Body
) => Effect.Effect<{ readonly body: Outgoing.Body; readonly checksum: string | undefined }, SourceFailed>

/** Returns the body as it is, without a checksum. */
export const unsealed: Seal = (body) => Effect.succeed({ body, checksum: undefined })

/**
 * Reads a body into memory, and computes its checksum. The bytes are read only once, because the source may change
 * between two reads.
 */
export const sealed = (algorithm: Algorithm, streams: boolean): Seal =>
  Effect.fnUntraced(function* (body) {
    const bytes = yield* read(body.bytes)
    const digest = yield* Digest.Digest.use((service) => service.digest(algorithms[algorithm], bytes)).pipe(
      Effect.provide(Digest.layerWebCrypto)
    )
    return {
      body: { ...body, bytes: streams ? { stream: Pieces.inPieces(bytes), length: BigInt(bytes.length) } : bytes },
      checksum: `${algorithm} ${Base64.encode(digest)}`
    }
  })
