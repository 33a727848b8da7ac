/**
 * Opens the sources of a job, and compares their sizes and identities with those that were stored when the attempt was
 * queued.
 */
import * as Printable from "@assembly-effect/schema/Printable"
import { fromPath, type Replayable, SourceFailed } from "@assembly-effect/tus/UploadSource"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/encoding/Hex"
import type * as FileSystem from "effect/FileSystem"
import type * as DurableJob from "../DurableJob.ts"
import { ObjectStores } from "../ObjectStores.ts"
import type { SourceAtRest } from "./jobAtRest.ts"

const utf8 = new TextEncoder()

/** Opens a source by its reference. */
const open = (source: DurableJob.Source): Effect.Effect<Replayable, SourceFailed, FileSystem.FileSystem> =>
  source._tag === "Path"
    ? fromPath(source.path)
    : Effect.flatMap(ObjectStores, (stores) => {
        const store = Object.hasOwn(stores, source.store) ? stores[source.store] : undefined
        return store === undefined
          ? Effect.fail(
              new SourceFailed({
                kind: "Unreadable",
                description: `no object store has the name ${Printable.escape(source.store)}; provide the stores to the host: host.pipe(Layer.provide(ObjectStores.layer({ … })))`
              })
            )
          : store(source.key)
      })

/**
 * The size of a source, and the digest of its identity. The identity itself is not stored, because it may contain a
 * presigned URL.
 */
const identify = (source: Replayable, filename: string): Effect.Effect<SourceAtRest, SourceFailed> =>
  Effect.flatMap(source.identity, (identity) =>
    identity === undefined
      ? Effect.fail(
          new SourceFailed({
            kind: "Unreadable",
            description: `${Printable.escape(filename)} has no identity, so a change would not be noticed`
          })
        )
      : Digest.Digest.use((digest) => digest.digest(Digest.sha256, utf8.encode(identity))).pipe(
          Effect.map((hash) => ({ size: String(source.size), identity: Encoding.encode(hash) })),
          Effect.provide(Digest.layerWebCrypto)
        )
  )

/** An opened source, and what the database stores about it: its size, and the digest of its identity. */
interface Opened {
  readonly source: Replayable
  readonly atRest: SourceAtRest
}

/**
 * An object store did not return the bytes of an object, or this runner does not know the store. A later try with
 * another presigned URL, or by another runner, may succeed.
 */
export class SourceAway {
  readonly _tag = "SourceAway"
  readonly error: SourceFailed
  constructor(error: SourceFailed) {
    this.error = error
  }
}

/**
 * Maps the failure of an object store to {@link SourceAway}, because the store may answer later. A missing file stays a
 * `SourceFailed`.
 */
export const mayReturn =
  ({ source }: { readonly source: DurableJob.Source }) =>
  <E extends { readonly _tag: string }>(error: E | SourceFailed): E | SourceFailed | SourceAway =>
    error instanceof SourceFailed && error.kind === "Unreadable" && source._tag === "Object"
      ? new SourceAway(error)
      : error

type File = Pick<DurableJob.File, "source" | "filename">

const openOne = ({ filename, source: reference }: File) =>
  Effect.gen(function* () {
    const source = yield* open(reference)
    return { source, atRest: yield* identify(source, filename) } satisfies Opened
  })

/** Whether the size and the identity of a source are the same as when the attempt was queued. */
const isSame = (was: SourceAtRest | undefined, is: SourceAtRest): boolean =>
  was !== undefined && was.size === is.size && was.identity === is.identity

/** The names of the files whose sources have changed. A source that cannot be read does not count as changed. */
export const changed = (
  files: ReadonlyArray<File>,
  before: ReadonlyArray<SourceAtRest>,
  after: ReadonlyArray<SourceAtRest | undefined>
): ReadonlyArray<string> =>
  files.flatMap(({ filename }, index) => {
    const is = after[index]
    return is === undefined || isSame(before[index], is) ? [] : [filename]
  })

/** How many sources are opened at the same time. */
const concurrency = 4

/** Opens the sources of all files. */
export const openAll = (
  files: ReadonlyArray<File>
): Effect.Effect<ReadonlyArray<Opened>, SourceFailed, FileSystem.FileSystem> =>
  Effect.forEach(files, openOne, { concurrency })

/**
 * Returns the current size and identity of each source, and undefined for a source that cannot be read, such as a file
 * that was removed after its upload.
 */
export const look = (
  files: ReadonlyArray<File>
): Effect.Effect<ReadonlyArray<SourceAtRest | undefined>, never, FileSystem.FileSystem> =>
  Effect.forEach(
    files,
    (file) => Effect.match(openOne(file), { onFailure: () => undefined, onSuccess: ({ atRest }) => atRest }),
    { concurrency }
  )

/** Opens the sources of all files, and fails if one has changed since the attempt was queued. */
export const reopen = Effect.fnUntraced(function* (files: ReadonlyArray<File>, before: ReadonlyArray<SourceAtRest>) {
  const opened = yield* Effect.forEach(files, (file) => Effect.mapError(openOne(file), mayReturn(file)), {
    concurrency
  })
  for (const [index, { atRest }] of opened.entries()) {
    if (!isSame(before[index], atRest)) {
      return yield* new SourceFailed({
        kind: "Changed",
        description: `${Printable.escape(files[index]?.filename ?? "")} has changed since the job was queued`
      })
    }
  }
  return opened.map(({ source }) => source)
})
