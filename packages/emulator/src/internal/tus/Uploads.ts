import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Stream from "effect/Stream"
import * as AssemblyStore from "../AssemblyStore.ts"
import * as Execution from "../Execution.ts"
import * as FileStore from "../FileStore.ts"
import * as Ids from "../Ids.ts"
import * as Origin from "../Origin.ts"
import * as UploadStore from "../UploadStore.ts"
import * as TusRefusal from "./TusRefusal.ts"
import * as UploadLocks from "./UploadLocks.ts"

/** An upload and how many of its bytes are stored. */
export interface Upload {
  readonly row: UploadStore.Row
  readonly offset: bigint
}

/** What an upload is created with. `header` is `upload-metadata` as it came, `metadata` what it says. */
export interface Creation {
  readonly header: string
  readonly metadata: {
    readonly assembly_url: string
    readonly filename: string
    readonly fieldname: string
    readonly [key: string]: string | null
  }
  readonly length: bigint | undefined
}

/** The bytes that one request brings, and where they belong. `size` is the length that the request announces. */
export interface Append<E> {
  readonly id: string
  readonly offset: bigint
  readonly length: bigint | undefined
  readonly size: bigint | undefined
  readonly bytes: Stream.Stream<Uint8Array, E>
}

/** Uploads as tus 1.0.0 knows them: created, brought forward, asked for, terminated. */
export class Uploads extends Context.Service<
  Uploads,
  {
    readonly create: (creation: Creation) => Effect.Effect<string, TusRefusal.TusRefusal>
    readonly get: (id: string) => Effect.Effect<Upload, TusRefusal.TusRefusal>
    /** Appends bytes as they come and tells the new offset. What was stored before a failure stays and counts. */
    readonly append: <E>(append: Append<E>) => Effect.Effect<bigint, E | TusRefusal.TusRefusal>
    readonly terminate: (id: string) => Effect.Effect<void, TusRefusal.TusRefusal>
  }
>()("@assembly-effect/emulator/tus/Uploads") {}

/** What the headers of an append ask for, against where the upload stands. Answers how many bytes have room. */
const checkAppend = Effect.fnUntraced(function* ({ offset, row }: Upload, append: Append<unknown>) {
  if (append.offset !== offset) return yield* TusRefusal.mismatchedOffset
  if (append.length !== undefined && row.length !== null && append.length !== row.length) {
    return yield* TusRefusal.lengthIsSet
  }
  const length = row.length ?? append.length
  if (length === undefined) return undefined
  if (length < offset) return yield* TusRefusal.lengthBelowOffset
  const room = length - offset
  return append.size !== undefined && append.size > room ? yield* TusRefusal.sizeExceeded : room
})

const make = Effect.gen(function* () {
  const assemblies = yield* AssemblyStore.AssemblyStore
  const execution = yield* Execution.Execution
  const files = yield* FileStore.FileStore
  const locks = yield* UploadLocks.UploadLocks
  const origin = yield* Origin.Origin
  const random = yield* SecureRandom.SecureRandom
  const uploads = yield* UploadStore.UploadStore

  const load = Effect.fnUntraced(function* (id: string) {
    const row = yield* uploads.find(id)
    return Option.isSome(row) ? { row: row.value, offset: yield* files.size(id) } : yield* TusRefusal.uploadNotFound
  })

  /** The Assembly that an `assembly_url` names, if it still waits. */
  const waitingAssembly = Effect.fnUntraced(function* (url: string) {
    const id = url.slice(url.lastIndexOf("/") + 1)
    const assembly = url === origin.assemblyUrl(id) ? yield* assemblies.find(id) : Option.none()
    if (Option.isNone(assembly)) return yield* TusRefusal.assemblyNotFound
    return assembly.value.state === "uploading" ? assembly.value : yield* TusRefusal.assemblyNotUploading
  })

  /** After every change: an upload that has all its bytes is finished, and its Assembly may go on. */
  const settle = Effect.fnUntraced(function* (id: string) {
    const upload = yield* Effect.option(load(id))
    if (Option.isNone(upload)) return
    const { offset, row } = upload.value
    if (row.finished_at !== null || row.length !== offset) return
    yield* uploads.finish(id)
    yield* execution.advance(row.assembly_id)
  }, Effect.uninterruptible)

  const create = Effect.fnUntraced(function* ({ header, length, metadata }: Creation) {
    const { assembly_url, fieldname, filename, ...userMeta } = metadata
    const assembly = yield* waitingAssembly(assembly_url)
    const id = yield* Effect.provideService(Ids.hex, SecureRandom.SecureRandom, random)
    yield* files.create(id)
    yield* uploads.insert({ id, assemblyId: assembly.id, metadata: header, filename, fieldname, userMeta, length })
    yield* settle(id)
    return id
  }, Effect.uninterruptible)

  const appendAlone = Effect.fnUntraced(function* <E>(append: Append<E>, asked: Effect.Effect<void>) {
    const room = yield* Effect.flatMap(load(append.id), (upload) => checkAppend(upload, append))
    if (append.length !== undefined) yield* uploads.setLength(append.id, append.length)
    yield* files.append(append.id, append.bytes, room).pipe(
      Effect.raceFirst(Effect.andThen(asked, Effect.fail(TusRefusal.locked))),
      Effect.catchTag("NoRoom", () => Effect.fail(TusRefusal.sizeExceeded)),
      Effect.ensuring(settle(append.id))
    )
    return yield* files.size(append.id)
  })

  return Uploads.of({
    create,
    get: (id) => locks.hold(id, () => load(id)),
    append: (append) => locks.hold(append.id, (asked) => appendAlone(append, asked)),
    terminate: (id) =>
      locks.hold(
        id,
        Effect.fnUntraced(function* () {
          const { row } = yield* load(id)
          yield* uploads.terminate(id)
          // The bytes of a finished one are the Assembly's.
          if (row.finished_at === null) yield* files.remove(id)
        }, Effect.uninterruptible)
      )
  })
})

export const layer: Layer.Layer<
  Uploads,
  never,
  | AssemblyStore.AssemblyStore
  | Execution.Execution
  | FileStore.FileStore
  | Origin.Origin
  | SecureRandom.SecureRandom
  | UploadLocks.UploadLocks
  | UploadStore.UploadStore
> = Layer.effect(Uploads, make)
