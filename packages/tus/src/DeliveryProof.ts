/**
 * Proves that the service has stored exactly the bytes that the program has read: compares the size and the MD5 of each
 * uploaded file in the Status with the size and the MD5 of the bytes that were read.
 */
import * as Md5 from "@assembly-effect/api/unstable/Md5"
import * as Pieces from "@assembly-effect/auth/unstable/Pieces"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import * as Arr from "effect/Array"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { DeliveryMismatch } from "./internal/jobError.ts"
import type { Delivered, Proof, Verify } from "./internal/job.ts"
import * as PackedStatus from "./internal/packedStatus.ts"
import { wholeOf, withWhole } from "./internal/source.ts"
import type { Replayable, SourceFailed, UploadSource } from "./UploadSource.ts"

/**
 * The size of a source in bytes, and the MD5 of its bytes in hexadecimal digits.
 *
 * @since 0.1.0
 * @category models
 */
export interface Total {
  readonly size: number
  readonly md5hash: string
}

/**
 * A source whose size and MD5 are computed while an upload reads the source. `total` returns the size and the MD5. If
 * the upload did not read all bytes in order, `total` reads a replayable source again. An upload does not read all
 * bytes in order if it has parallel parts, if an earlier run has already sent some bytes, or if the source is a Blob
 * and request bodies are not streamed (see `Upload.CanStream`).
 *
 * @since 0.1.0
 * @category models
 */
export interface Summed<Source> {
  readonly source: Source
  readonly total: Effect.Effect<Total, SourceFailed>
}

/** The number and the MD5 of the bytes that were read so far. */
const newSum = Effect.map(Md5.make, (md5sum) => ({ size: 0, md5sum }))
type Sum = Effect.Success<typeof newSum>

const totalOf = ({ md5sum, size }: Sum): Total => ({ size, md5hash: md5sum.hex() })

/**
 * Adds the bytes of a stream from the offset `start` that follow the bytes in `sum`. If an upload reads bytes again,
 * `sum` contains these bytes already, so they are skipped.
 */
const adding = (sum: Sum, start: bigint) => {
  let at = start
  return (piece: Uint8Array) =>
    Effect.sync(() => {
      const known = BigInt(sum.size)
      const end = at + BigInt(piece.length)
      if (at <= known && end > known) {
        sum.size += Number(end - known)
        sum.md5sum.add(piece.subarray(Number(known - at)))
      }
      at = end
      return [piece]
    })
}

const summedReplayable = (source: Replayable, sum: Sum): Summed<Replayable> => {
  const whole = wholeOf(source)
  const read = (start: bigint, end: bigint) =>
    Stream.suspend(() => Pieces.mapPieces(source.bytes(start, end), adding(sum, start)))
  const readAgain = Effect.flatMap(newSum, (again) =>
    Effect.map(Stream.runForEach(source.bytes(0n, source.size), adding(again, 0n)), () => totalOf(again))
  )
  return {
    source: withWhole({ ...source, bytes: read }, whole && Effect.tap(whole, (bytes) => adding(sum, 0n)(bytes))),
    total: Effect.suspend(() => (BigInt(sum.size) === source.size ? Effect.sync(() => totalOf(sum)) : readAgain))
  }
}

/**
 * Computes the size and the MD5 of a source while an upload reads it.
 *
 * @example
 * Effect.gen(function* () {
 *   const { source, total } = yield* DeliveryProof.summed(yield* UploadSource.fromPath("cat.jpg"))
 *   yield* Upload.run(target, source, options)
 *   return yield* total
 * })
 *
 * @since 0.1.0
 * @category combinators
 */
export const summed = <Source extends UploadSource>(source: Source): Effect.Effect<Summed<Source>> =>
  Effect.map(newSum, (sum) => {
    const made: Summed<UploadSource> =
      source._tag === "Replayable"
        ? summedReplayable(source, sum)
        : {
            source: { ...source, stream: Pieces.mapPieces(source.stream, adding(sum, 0n)) },
            total: Effect.sync(() => totalOf(sum))
          }
    return made as Summed<Source>
  })

const difference = (file: Assembly.File | undefined, { md5hash, size }: Total) => {
  if (file === undefined) return PackedStatus.unlisted
  const found = file.size ?? "unknown"
  if (found !== size) return { field: "size", expected: String(size), actual: String(found) } as const
  const actual = Md5.ofFile(file) ?? "unknown"
  return actual === md5hash ? undefined : ({ field: "md5hash", expected: md5hash, actual } as const)
}

/**
 * Compares the `uploads` of a Status with the bytes that were read. Fails for the first file that differs, that the
 * Status does not list, or that has no size or no MD5 in the Status.
 *
 * @example
 * DeliveryProof.check(assembly, [{ filename: "cat.jpg", size: 3, md5hash: "900150983cd24fb0d6963f7d28e17f72" }])
 *
 * @since 0.1.0
 * @category checks
 */
export const check = Effect.fnUntraced(function* (
  status: Pick<Assembly.Status, "assembly_id" | "uploads">,
  files: ReadonlyArray<Delivered & Total>
) {
  for (const [file, found] of Arr.zip(files, PackedStatus.filesOf(status, files))) {
    const subject = { assemblyId: status.assembly_id, filename: file.filename }
    const differing = difference(found, file)
    if (differing !== undefined) return yield* new DeliveryMismatch({ ...subject, ...differing })
  }
})

/**
 * The `verify` option of `AssemblyUpload` that compares sizes and MD5s.
 *
 * **When to use**
 *
 * Use `md5` to detect that a file was damaged on its way, on the disk of the service, or in the memory of this program.
 *
 * **Details**
 *
 * The MD5 is computed while the upload reads the bytes, see {@link Summed}. `AssemblyNode` and `NodeMd5` compute the
 * MD5 with `node:crypto`. Without these Layers, the computation takes about ten times longer. When the Assembly has
 * completed, the MD5 and the size are compared with its Status. If a size or an MD5 differs, the job fails with
 * `DeliveryMismatch`, which names the file and both values. A file without a size or an MD5 in the Status counts as a
 * difference too.
 *
 * **Gotchas**
 *
 * MD5 protects against damage, not against an attacker. The results of the Steps are not compared, only the uploads.
 *
 * @example
 * AssemblyUpload.run({
 *   params: { templateId: "my-template" },
 *   files: [{ source: UploadSource.fromPath("cat.jpg"), filename: "cat.jpg" }],
 *   verify: DeliveryProof.md5
 * })
 *
 * @since 0.1.0
 * @category options
 */
export const md5: Verify = (sources) =>
  Effect.map(Effect.forEach(sources, summed), (sums): Proof => ({
    sources: sums.map(({ source }) => source),
    check: Effect.fnUntraced(function* (status, files) {
      const totals = yield* Effect.forEach(sums, ({ total }) => total)
      const known = Arr.zipWith(files, totals, (file, total) => ({ ...file, ...total }))
      yield* check(status, known)
    })
  }))
