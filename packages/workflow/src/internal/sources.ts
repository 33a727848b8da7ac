/**
 * Opens the sources of a job, and compares their sizes and identities with those that were stored when the attempt was
 * queued.
 */
import * as Printable from "@assembly-effect/schema/unstable/Printable"
import { fromPath, type Replayable, SourceFailed } from "@assembly-effect/tus/UploadSource"
import * as Hosting from "@assembly-effect/tus/unstable/Hosting"
import { Array as Arr, Data, Effect, type FileSystem, Result } from "effect"
import type * as DurableJob from "../DurableJob.ts"
import { ObjectStores } from "../ObjectStores.ts"
import type { SourceAtRest } from "./row.ts"

const unreadable = (description: string) => new SourceFailed({ kind: "Unreadable", description })

/** Opens a source by its reference. */
const open = (source: DurableJob.Source): Effect.Effect<Replayable, SourceFailed, FileSystem.FileSystem> => {
  if (source._tag === "Path") return fromPath(source.path)
  const problem = `no object store has the name ${Printable.escape(source.store)}; provide the stores to the host: host.pipe(Layer.provide(ObjectStores.layer({ … })))`
  return Effect.flatMap(ObjectStores, (stores) => {
    const store = Object.hasOwn(stores, source.store) ? stores[source.store] : undefined
    return store === undefined ? unreadable(problem) : store(source.key)
  })
}

/**
 * An object store did not return the bytes of an object, or this runner does not know the store. A later try with
 * another presigned URL, or by another runner, may succeed.
 */
export class SourceAway extends Data.TaggedClass("SourceAway")<{ readonly error: SourceFailed }> {}

/**
 * Maps the failure of an object store to {@link SourceAway}, because the store may answer later. A missing file stays a
 * `SourceFailed`.
 */
export const mayReturn =
  ({ source }: { readonly source: DurableJob.Source }) =>
  <E extends { readonly _tag: string }>(error: E | SourceFailed): E | SourceFailed | SourceAway =>
    error instanceof SourceFailed && error.kind === "Unreadable" && source._tag === "Object"
      ? new SourceAway({ error })
      : error

type File = DurableJob.File

/** The identity itself is not stored, because it may contain a presigned URL. */
const openOne = Effect.fnUntraced(function* ({ filename, source: reference }: File) {
  const source = yield* open(reference)
  const identity = yield* source.identity
  if (identity === undefined) {
    return yield* unreadable(`${Printable.escape(filename)} has no identity, so a change would not be noticed`)
  }
  const atRest: SourceAtRest = { size: BigInt(source.size), identity: yield* Hosting.digestOf([identity]) }
  return { source, atRest }
})

/** An opened source, and what the database stores about it: its size, and the digest of its identity. */
export type Opened = Effect.Success<ReturnType<typeof openOne>>

/** Opens the sources of all files, 4 at the same time. */
export const openAll = (
  files: ReadonlyArray<File>
): Effect.Effect<ReadonlyArray<Result.Result<Opened, SourceFailed>>, never, FileSystem.FileSystem> =>
  Effect.forEach(files, (file) => Effect.result(openOne(file)), { concurrency: 4 })

/**
 * The names of the files whose sources have changed. A source that cannot be read does not count as changed, because a
 * program may delete what it has uploaded.
 */
export const changed = (
  files: ReadonlyArray<File>,
  before: ReadonlyArray<SourceAtRest>,
  after: ReadonlyArray<Result.Result<Opened, SourceFailed>>
): ReadonlyArray<string> =>
  files.flatMap(({ filename }, index) => {
    const [was, is] = [before[index], after[index]]
    if (is === undefined || Result.isFailure(is)) return []
    const { identity, size } = is.success.atRest
    return was?.size === size && was.identity === identity ? [] : [filename]
  })

/** Opens the sources of all files, and fails if one has changed since the attempt was queued. */
export const reopen = Effect.fnUntraced(function* (files: ReadonlyArray<File>, before: ReadonlyArray<SourceAtRest>) {
  const opened = yield* openAll(files)
  const [changedOne] = changed(files, before, opened)
  if (changedOne !== undefined) {
    const description = `${Printable.escape(changedOne)} has changed since the job was queued`
    return yield* new SourceFailed({ kind: "Changed", description })
  }
  return yield* Effect.forEach(Arr.zip(files, opened), ([file, found]) =>
    Effect.fromResult(found).pipe(
      Effect.map(({ source }) => ({ ...file, source })),
      Effect.mapError(mayReturn(file))
    )
  )
})
