import type * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FiberMap from "effect/FiberMap"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Limits from "../limits.ts"
import * as AssemblyStore from "../assembly/assemblyStore.ts"
import type * as BlobWriter from "../files/blobWriter.ts"
import * as Execution from "../assembly/execution.ts"
import * as FileStore from "../files/fileStore.ts"
import * as StorageFailure from "../data/storageFailure.ts"
import * as Ids from "../data/ids.ts"
import * as Origin from "../http/origin.ts"
import * as RequestNote from "../http/requestNote.ts"
import { maxSizeExceeded } from "../robots/robot.ts"
import * as Updates from "../assembly/updates.ts"
import * as UploadedFiles from "../files/uploadedFiles.ts"
import * as UploadStore from "../files/uploadStore.ts"
import * as Expiry from "./expiry.ts"
import type { Refusal } from "../http/refusal.ts"
import * as TusRefusal from "./tusRefusal.ts"
import * as UploadLocks from "./uploadLocks.ts"

/** An upload. `offset` is the number of stored bytes of the upload. */
export interface Upload {
  readonly row: UploadStore.Row
  readonly offset: bigint
}

/**
 * A new upload. `header` is the value of `upload-metadata`, and `metadata` is the decoded value. `concat` is the value of
 * `upload-concat`. `parts` are the URLs of the partial uploads that a final upload concatenates, in the order of the
 * bytes; the bytes of every other upload arrive in requests.
 */
export interface Creation {
  readonly header: string
  readonly metadata: TusUpload.Metadata
  readonly concat: string | undefined
  readonly length: bigint | undefined
  readonly parts: ReadonlyArray<string> | undefined
}

/**
 * A request to append bytes at `offset`. `length` is the length of the upload that the request declares. `size` is the
 * announced length of the body.
 */
export interface Append<E> {
  readonly id: string
  readonly offset: bigint
  readonly length: bigint | undefined
  readonly size: bigint | undefined
  readonly checksum: FileStore.Checksum | undefined
  readonly bytes: Stream.Stream<Uint8Array, E>
}

/**
 * Checks an append request against its upload. Returns how many bytes may be appended; undefined if the length is
 * unknown.
 */
const checkAppend = Effect.fnUntraced(function* ({ offset, row }: Upload, append: Append<unknown>) {
  if (row.kind === "final") return yield* TusRefusal.refuse("finalCannotGrow")
  if (append.offset !== offset) return yield* TusRefusal.refuse("mismatchedOffset")
  if (append.length !== undefined && row.length !== null && append.length !== row.length) {
    return yield* TusRefusal.refuse("lengthIsSet")
  }
  const length = row.length ?? append.length
  if (length === undefined) return undefined
  if (length < offset) return yield* TusRefusal.refuse("lengthBelowOffset")
  const room = length - offset
  return append.size !== undefined && append.size > room ? yield* TusRefusal.refuse("sizeExceeded") : room
})

/** Refuses an append to a finished upload at the first byte of its body, which may have no `content-length`. */
const requireNoBytes = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Stream.runForEach(bytes, (chunk) =>
    chunk.length === 0 ? Effect.void : Effect.fail(TusRefusal.refuse("sizeExceeded"))
  )

/** Implements the uploads of tus 1.0.0: create, append, concatenate, read, terminate. */
export const make = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.make
  const execution = yield* Execution.Execution
  const expiry = yield* Expiry.Expiry
  const files = yield* FileStore.FileStore
  const limits = yield* Limits.Limits
  const locks = yield* UploadLocks.UploadLocks
  const origin = yield* Origin.Origin
  const updates = yield* Updates.Updates
  const uploadedFiles = yield* UploadedFiles.make
  const uploads = yield* UploadStore.make
  const newId = yield* Ids.hex
  const settling = yield* FiberMap.make<string, void, StorageFailed>()
  const retrying = yield* FiberMap.make<string>()
  const concatenating = yield* FiberSet.make<Upload, Refusal | StorageFailed>()

  const load = Effect.fnUntraced(function* (id: string) {
    const row = yield* uploads.find(id)
    if (Option.isNone(row)) return yield* TusRefusal.refuse("uploadNotFound")
    yield* RequestNote.note({ assemblyId: row.value.assembly_id })
    if (yield* expiry.isOver(row.value)) {
      yield* files.remove(id)
      return yield* TusRefusal.refuse("uploadExpired")
    }
    return { row: row.value, offset: yield* files.size(id) }
  })

  const ifWaiting = (assembly: AssemblyStore.Row) =>
    assembly.state === "uploading" ? Effect.succeed(assembly) : Effect.fail(TusRefusal.refuse("assemblyNotUploading"))

  /** Finds the Assembly of an `assembly_url`. Fails if the Assembly no longer accepts uploads. */
  const assemblyAt = Effect.fnUntraced(function* (url: string) {
    const id = url.slice(url.lastIndexOf("/") + 1)
    const assembly = url === origin.assemblyUrl(id) ? yield* assemblies.find(id) : Option.none()
    if (Option.isNone(assembly)) return yield* TusRefusal.refuse("assemblyNotFound")
    yield* RequestNote.note({ assemblyId: id })
    return yield* ifWaiting(assembly.value)
  })

  /** If a file is larger than the `max_size` of the Assembly, the Assembly fails (spec.md, "Limits"). */
  const checkSize = Effect.fnUntraced(function* (assembly: AssemblyStore.Row, size: bigint | undefined) {
    if (assembly.max_size === null || size === undefined || size <= BigInt(assembly.max_size)) return
    yield* execution.fail(assembly.id, maxSizeExceeded)
    return yield* TusRefusal.refuse("maxSizeExceeded")
  })

  const checkCount = Effect.fnUntraced(function* (assembly: AssemblyStore.Row) {
    if ((yield* uploads.count(assembly.id)) >= limits.files) return yield* TusRefusal.refuse("tooManyUploads")
  })

  /** Finishes an upload that has all its bytes. Advances its Assembly, unless the upload is partial. */
  const finish = Effect.fnUntraced(function* ({ id, kind }: UploadStore.Row) {
    const digest = kind === "partial" ? undefined : yield* files.digest(id)
    if (!(yield* uploads.finish(id, digest)) || digest === undefined) return
    const finished = yield* uploads.find(id)
    if (Option.isNone(finished)) return
    const { file } = yield* uploadedFiles.of(finished.value)
    yield* updates.publish(Updates.uploadFinished(finished.value.assembly_id, file))
    yield* execution.advance(finished.value.assembly_id)
  })

  /**
   * Loads an upload. If the upload has all its bytes but is not finished, this function finishes the upload before it
   * returns. `finish` continues even if the client disconnects. If the emulator ends during `finish`, the next start of
   * the emulator repeats `finish`.
   */
  const settled = Effect.fnUntraced(function* (id: string) {
    const upload = yield* load(id)
    if (upload.row.finished_at !== null || upload.row.length !== upload.offset) return upload
    const fiber = yield* FiberMap.run(settling, id, finish(upload.row), { onlyIfMissing: true })
    yield* Effect.interruptible(Fiber.join(fiber))
    return yield* load(id)
  }, Effect.uninterruptible)

  /** Finishes an upload that has all its bytes. A refusal means that the upload is gone. */
  const settle = (id: string) => Effect.catchTag(Effect.asVoid(settled(id)), "Refusal", () => Effect.void)

  /**
   * Loads an upload for a request that only reads. If the disk fails while the upload is finished, the upload is finished
   * later, and the request is answered.
   */
  const read = (id: string) =>
    Effect.catchTag(settled(id), "StorageFailed", () =>
      Effect.andThen(
        FiberMap.run(retrying, id, StorageFailure.retryUntilStored(settle(id)), { onlyIfMissing: true }),
        load(id)
      )
    )

  const insert = Effect.fnUntraced(function* (
    id: string,
    kind: UploadStore.Kind,
    assembly_id: string,
    { header: metadata, ...creation }: Creation
  ) {
    const { assembly_url: _url, fieldname, filename, ...user_meta } = creation.metadata
    const { concat = null, length = null } = creation
    yield* uploads.insert({ id, assembly_id, kind, concat, metadata, filename, fieldname, user_meta, length })
    return yield* settled(id)
  })

  const create = Effect.fnUntraced(function* (creation: Creation) {
    const assembly = yield* assemblyAt(creation.metadata.assembly_url)
    yield* checkCount(assembly)
    yield* checkSize(assembly, creation.length)
    const id = yield* newId
    const kind = creation.concat === undefined ? "ordinary" : "partial"
    yield* files.create(id)
    return yield* insert(id, kind, assembly.id, creation)
  }, Effect.uninterruptible)

  /** Finds a partial upload for a final upload. The partial upload must be finished and belong to the same Assembly. */
  const partAt = Effect.fnUntraced(function* (url: string, assembly: AssemblyStore.Row) {
    const id = url.slice(url.lastIndexOf("/") + 1)
    const part = Option.filter(
      [origin.uploadUrl(id), new URL(origin.uploadUrl(id)).pathname].includes(url)
        ? yield* uploads.find(id)
        : Option.none(),
      ({ assembly_id, kind }) => kind === "partial" && assembly_id === assembly.id
    )
    if (Option.isNone(part)) return yield* TusRefusal.refuse("unknownPart")
    return part.value.finished_at === null ? yield* TusRefusal.refuse("partNotFinished") : part.value
  })

  const concatenateNow = Effect.fnUntraced(function* (final: Creation, urls: ReadonlyArray<string>) {
    const assembly = yield* assemblyAt(final.metadata.assembly_url)
    yield* checkCount(assembly)
    const parts = yield* Effect.forEach(urls, (url) => partAt(url, assembly))
    const length = parts.reduce((total, part) => total + (part.length ?? 0n), 0n)
    yield* checkSize(assembly, length)
    const id = yield* newId
    yield* files.concatenate(
      id,
      parts.map((part) => part.id)
    )
    return yield* insert(id, "final", assembly.id, { ...final, length })
  })

  /** Concatenates in the background, so that the work continues even if the client disconnects. */
  const concatenate = (final: Creation, urls: ReadonlyArray<string>) =>
    Effect.flatMap(FiberSet.run(concatenating, concatenateNow(final, urls)), (fiber) => Fiber.join(fiber))

  /**
   * The number of bytes that a request may append. While the length of the upload is unknown, the `max_size` of the
   * Assembly is the limit of the upload.
   */
  const roomIn = ({ max_size }: AssemblyStore.Row, offset: bigint, room: bigint | undefined) =>
    room === undefined && max_size !== null ? BigInt(max_size) - offset : room

  const store = <E>(
    { bytes, checksum, id }: Append<E>,
    options: FileStore.Append
  ): Effect.Effect<void, E | BlobWriter.NoRoom | FileStore.Mismatch | StorageFailed> =>
    checksum === undefined ? files.append(id, bytes, options) : files.appendVerified(id, bytes, options, checksum)

  const appendAlone = Effect.fnUntraced(function* <E>(append: Append<E>, asked: Effect.Effect<void>) {
    const whenAsked = Effect.andThen(asked, Effect.fail(TusRefusal.refuse("locked")))
    const upload = yield* settled(append.id)
    const room = yield* checkAppend(upload, append)
    // A finished ordinary or partial upload accepts a request without bytes, even after the end of the Assembly.
    if (upload.row.finished_at !== null) {
      yield* Effect.raceFirst(requireNoBytes(append.bytes), whenAsked)
      return upload.offset
    }
    const assembly = Option.getOrThrow(yield* assemblies.find(upload.row.assembly_id))
    yield* ifWaiting(assembly)
    yield* checkSize(assembly, append.length)
    if (append.length !== undefined) yield* uploads.setLength(append.id, append.length)
    // The digest of a partial upload is never needed.
    const isHashed = upload.row.kind === "ordinary"
    yield* store(append, { isHashed, room: roomIn(assembly, upload.offset, room) }).pipe(
      Effect.raceFirst(whenAsked),
      Effect.catchTag("Mismatch", () => Effect.fail(TusRefusal.refuse("checksumMismatch"))),
      Effect.catchTag("NoRoom", () =>
        Effect.andThen(
          room === undefined ? checkSize(assembly, BigInt(assembly.max_size ?? 0) + 1n) : Effect.void,
          Effect.fail(TusRefusal.refuse("sizeExceeded"))
        )
      ),
      // A failed request may still have stored the last byte.
      Effect.onError(() => Effect.ignore(settled(append.id)))
    )
    return (yield* settled(append.id)).offset
  })

  /**
   * Terminates an upload. The bytes of a finished upload stay, because the Assembly uses them; the bytes of a partial
   * upload stay until they expire. The bytes of an unfinished upload are removed after the termination is stored. If
   * the termination cannot be stored, for example because the disk is full, the bytes are removed first, and then the
   * termination is stored.
   */
  const end = ({ finished_at, id }: UploadStore.Row) =>
    finished_at === null
      ? uploads.terminate(id).pipe(
          Effect.catch(() => Effect.andThen(files.remove(id), uploads.terminate(id))),
          Effect.andThen(files.remove(id))
        )
      : uploads.terminate(id)

  /** Reads the bytes of a finished upload. */
  const download = Effect.fnUntraced(function* (id: string) {
    const { row } = yield* load(id)
    return row.finished_at === null ? yield* TusRefusal.refuse("notFinished") : { row, file: files.read(id) }
  })

  // Before the first request, finishes the uploads whose last byte an earlier process has stored.
  yield* Effect.forEach(yield* uploads.unfinished, settle, { discard: true })

  return {
    create,
    concatenate,
    download,
    get: (id: string) => locks.hold(id, () => read(id)),
    /**
     * Appends bytes, and returns the new offset. Without a checksum, the bytes are appended as they arrive, and bytes
     * that were stored before a failure remain part of the upload. With a checksum, the bytes are appended only after
     * all of them match the checksum.
     */
    append: <E>(append: Append<E>) => locks.hold(append.id, (asked) => appendAlone(append, asked)),
    terminate: (id: string) =>
      locks.hold(
        id,
        Effect.fnUntraced(function* () {
          const { row } = yield* settled(id)
          yield* Effect.uninterruptible(end(row))
        })
      )
  }
})
