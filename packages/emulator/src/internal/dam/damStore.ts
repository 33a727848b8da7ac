import type * as Identifier from "@assembly-effect/schema/Identifier"
import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Ids from "../data/ids.ts"
import * as Statement from "../data/statement.ts"
import * as Turns from "../http/turns.ts"
import * as DamStatements from "./damStatements.ts"
import * as EntryMove from "./entryMove.ts"
import * as ListedAssets from "./listedAssets.ts"
import * as Listing from "./listing.ts"
import * as Moving from "./moving.ts"
import * as Paths from "./paths.ts"
import { refuse } from "./refused.ts"
import * as Storing from "./storing.ts"

const cursorKey = Statement.one(Schema.Struct({ key: Schema.String }))

const make = Effect.gen(function* () {
  const client = yield* SqlClient.SqlClient
  const turns = yield* Turns.Turns
  const sql = DamStatements.make(client)
  const { key } = yield* cursorKey(client`SELECT key FROM dam_cursors`)

  const newId = yield* Ids.identifier
  const idsFor = (folders: ReadonlyArray<string>) => Effect.forEach(folders, () => newId)

  /** Runs a change in one transaction. The change gets the current time. */
  const change = <A, E>(work: (now: DateTime.Utc) => Effect.Effect<A, E>) =>
    Effect.flatMap(DateTime.now, work).pipe(client.withTransaction, Statement.stored)

  return {
    store: Effect.fnUntraced(function* (file: Storing.New) {
      // The length is checked first, because otherwise a long path would need an id for each of its folders.
      if (Paths.isTooLong([...file.folders, file.filename].join("/"))) return yield* refuse("PathTooLong")
      const fresh = { assetId: yield* newId, versionId: yield* newId, folderIds: yield* idsFor(file.folders) }
      return yield* change((now) => Storing.store(sql, file, fresh, now.epochMilliseconds))
    }),
    /** Finds an asset. Without `versionId`, returns the current version. */
    get: Effect.fnUntraced(function* (
      workspace: string,
      assetId: Identifier.AssetId,
      versionId: Identifier.VersionId | undefined
    ) {
      const found =
        versionId === undefined
          ? yield* sql.asset(workspace, assetId)
          : yield* sql.assetVersion(workspace, assetId, versionId)
      if (Option.isSome(found)) return DamStatements.toAsset(found.value)
      const isThere = Option.isSome(yield* sql.asset(workspace, assetId))
      return yield* isThere ? refuse("VersionNotFound", ["version_id"]) : refuse("AssetNotFound")
    }),
    list: (listing: Listing.Listing) => Listing.list(sql, turns, key, listing),
    move: (asked: Moving.Move) => change((now) => Moving.move(sql, asked, now)),
    moveMany: (asked: Moving.MoveMany) => change((now) => Moving.moveMany(sql, asked, now)),
    moveEntry: (asked: EntryMove.MoveEntry) =>
      Effect.flatMap(idsFor(EntryMove.foldersOf(asked.destination)), (ids) =>
        change((now) => EntryMove.moveEntry(sql, asked, ids, now.epochMilliseconds))
      ),
    /** Deletes all assets or none. Returns the time of the deletion. */
    remove: (workspace: string, assetIds: ReadonlyArray<Identifier.AssetId>) =>
      change(
        Effect.fnUntraced(function* (now) {
          yield* ListedAssets.find(sql, workspace, assetIds)
          yield* sql.update(assetIds, { deleted_at: now.epochMilliseconds, updated_at: now.epochMilliseconds })
          return now
        })
      )
  }
})

/**
 * Stores the assets and folders of all Workspaces.
 *
 * Each change is one transaction. Therefore a change is atomic, and concurrent changes run one after the other. The row
 * of a deleted asset stays, because the Step that stored the asset may run again after a crash, and must find the row
 * then. The bytes of an asset belong to the upload of its Assembly and stay with the upload.
 */
export class DamStore extends Context.Service<DamStore>()("@assembly-effect/emulator/DamStore", { make }) {}

export const layer = Layer.effect(DamStore, DamStore.make)
