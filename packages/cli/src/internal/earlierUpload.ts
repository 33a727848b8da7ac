/** Checks whether the Workspace still has the files that the completed Assembly of an earlier command has stored. */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Dam from "@assembly-effect/api/Dam"
import type * as Assembly from "@assembly-effect/schema/Assembly"
import type * as DamAsset from "@assembly-effect/schema/DamAsset"
import * as Identifier from "@assembly-effect/schema/Identifier"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ErrorLine from "../ErrorLine.ts"
import * as Cells from "./cells.ts"

/** The maximum number of assets that are requested at the same time. */
const concurrency = 8

const decodeAssetId = Schema.decodeUnknownOption(Identifier.AssetId)

interface Stored {
  readonly id: Identifier.AssetId
  readonly file: Assembly.File
}

/** The files that the Assembly has stored in the Workspace. */
const storedBy = ({ results }: Assembly.Status): ReadonlyArray<Stored> =>
  Object.values(results ?? {})
    .flat()
    .flatMap((file) => Option.toArray(Option.map(decodeAssetId(file.asset_id), (id) => ({ id, file }))))

/** Whether an asset is still at the path at which the Assembly stored it. The asset keeps its id when it is moved. */
const isAtPath = (asset: DamAsset.Asset, { path }: Assembly.File): boolean =>
  path === undefined || path === null || asset.path.normalize("NFC") === path.normalize("NFC")

/**
 * Whether an asset still has the path and the content that the Assembly stored. A later upload may have replaced this
 * content.
 */
const isSame = (asset: DamAsset.Asset, file: Assembly.File): boolean =>
  isAtPath(asset, file) &&
  (asset.version_id === file.version_id || (asset.sha256 !== undefined && asset.sha256 === file.sha256))

const isThere = ({ file, id }: Stored) =>
  Dam.get(id).pipe(
    Effect.map(({ asset }) => isSame(asset, file)),
    Effect.catchTag("DamResourceNotFound", () => Effect.succeed(false))
  )

const names = (gone: ReadonlyArray<Stored>, all: ReadonlyArray<Stored>, assemblyId: string): string => {
  const name = gone[0]?.file.path ?? gone[0]?.file.name ?? ""
  return all.length === 1
    ? `The Workspace no longer has ${name} as Assembly ${assemblyId} stored it`
    : `The Workspace no longer has ${gone.length} of ${all.length} files, such as ${name}, as Assembly ${assemblyId} stored them`
}

/**
 * - `Gone`: the Workspace lacks some of the files, or has them at another path or with another content. The command
 *   uploads all files again.
 * - `Done`: the Workspace has all files, or a request for an asset failed, so that it is not known whether the files
 *   still exist. No file is uploaded.
 */
export interface Finding {
  readonly _tag: "Gone" | "Done"
  readonly message: string
}

const done = (status: Assembly.Status, doubt: string): Finding => {
  const on = Option.match(DateTime.make(status.start_date ?? ""), {
    onNone: () => "",
    onSome: (moment) => ` on ${Cells.minute(moment)} (UTC)`
  })
  return {
    _tag: "Done",
    message: `Already uploaded${on} by Assembly ${status.assembly_id}; no file was uploaded again. --restart uploads again${doubt}`
  }
}

/** Asks the service whether the Workspace still has the files that the Assembly stored. */
export const check = (status: Assembly.Status): Effect.Effect<Finding, never, AssemblyClient> => {
  const stored = storedBy(status)
  return Effect.filter(stored, (one) => Effect.map(isThere(one), (there) => !there), { concurrency }).pipe(
    Effect.match({
      onSuccess: (gone): Finding =>
        gone.length === 0
          ? done(status, "")
          : { _tag: "Gone", message: `${names(gone, stored, status.assembly_id ?? "")}. Uploading again` },
      onFailure: (error) =>
        done(status, `. It is not known whether its files still exist: ${ErrorLine.fromError(error)}`)
    })
  )
}
