/**
 * Journals of every kind, for the same tests.
 */
import { SqliteClient } from "@assembly-effect/sqlite"
import { UploadJournal, UploadSource, type UploadTarget } from "@assembly-effect/tus"
import * as UploadJournalSql from "@assembly-effect/tus/UploadJournalSql"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodePath from "@effect/platform-node/NodePath"
import { Context, Effect, FileSystem, Layer, type Scope } from "effect"
import * as Scene from "./Scene.ts"

/** Files and an HTTP client. */
export const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer, NodeHttpClient.layerUndici)

/** The entry of an upload of this source, and its key. */
export const of = Effect.fnUntraced(function* (
  target: UploadTarget.UploadTarget,
  source: UploadSource.Replayable,
  state: UploadJournal.Entry["state"],
  writtenAt = 0
) {
  const { metadata } = Scene.options
  const { size } = source
  const identity = yield* source.identity
  const entry: UploadJournal.Entry = { target, metadata, size, identity: identity ?? null, writtenAt, state }
  return { entry, key: yield* UploadJournal.keyOf(target, { ...metadata, identity, size }) }
})

/** The entry of an upload of a service that no test has. */
export const entryAt = Effect.fnUntraced(function* (
  writtenAt: number,
  state: UploadJournal.Entry["state"] = { _tag: "Created", marker: "m", url: "https://a.example.com/resumable/files/1" }
) {
  return (yield* of(Scene.unused, UploadSource.fromBytes(new Uint8Array(9)), state, writtenAt)).entry
})

/** A folder that is deleted after the test. */
export const folder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped({ prefix: "journal-" }))

export const layers = {
  memory: UploadJournal.layerMemory(),
  files: Layer.unwrap(Effect.map(folder, (path) => UploadJournal.layerFileSystem(`${path}/deep/journal`))),
  SQLite: UploadJournalSql.layer().pipe(Layer.provide(Layer.orDie(SqliteClient.layer({ path: ":memory:" }))))
}

/** Runs a test with files. */
export const onPlatform = <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof platform> | Scope.Scope>) =>
  Effect.scoped(effect).pipe(Effect.provide(platform))

/** A journal in this folder. */
export const inFolder = (path: string, options?: UploadJournal.Options) =>
  Effect.map(Layer.build(UploadJournal.layerFileSystem(path, options)), Context.get(UploadJournal.UploadJournal))

/** Runs a test with a journal of its own. */
export const running =
  (journal: (typeof layers)[keyof typeof layers]) =>
  <A, E>(effect: Effect.Effect<A, E, Layer.Success<typeof platform> | UploadJournal.UploadJournal | Scope.Scope>) =>
    Effect.scoped(effect).pipe(Effect.provide(Layer.provideMerge(journal, platform)))
