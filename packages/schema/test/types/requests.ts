// Compiled, never run: what a program can and cannot write.
import { type AssemblyStatistics, DamAsset, type Identifier } from "@assembly-effect/schema"
import type * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as TusUpload from "@assembly-effect/schema/unstable/TusUpload"

declare const assetId: Identifier.AssetId
declare const folderId: Identifier.FolderId
declare const metadata: TusUpload.Metadata

// Brands do not mix.
// @ts-expect-error an asset is not a folder
export const brand1: Identifier.FolderId = assetId
// @ts-expect-error a version is not an asset
export const brand2: Identifier.VersionId = assetId
// @ts-expect-error text is not yet an identity
export const brand3: Identifier.AssetId = "0123456789_-abcdefABCA"

// null, absent and a value are three different things; undefined is none of them.
export const moves: ReadonlyArray<DamAsset.MoveRequest> = [
  { filename: "a" },
  { destinationFolderId: null },
  { destinationFolderId: folderId },
  { filename: "a", destinationFolderId: null }
]
// @ts-expect-error at least one key
export const move1: DamAsset.MoveRequest = {}
// @ts-expect-error undefined is not absent
export const move2: DamAsset.MoveRequest = { filename: "a", destinationFolderId: undefined }
// @ts-expect-error an asset is not a destination
export const move3: DamAsset.MoveRequest = { destinationFolderId: assetId }
// @ts-expect-error null is not a filename
export const move4: DamAsset.MoveRequest = { filename: null }
// @ts-expect-error an unknown key
export const move5: DamAsset.MoveRequest = { filename: "a", path: "/" }
// @ts-expect-error `make` knows its input as well
DamAsset.Moved.make({ ok: "DAM_ASSET_MOVED" })

// The query is a closed set of keys.
export const query1: AssemblyStatistics.Query = { region: "all", since: "2026-01-01", templateId: "all" }
// @ts-expect-error the name on the wire
export const query2: AssemblyStatistics.Query = { region: "all", since: "x", template_id: "all" }
// @ts-expect-error since is required
export const query3: AssemblyStatistics.Query = { region: "all" }
// @ts-expect-error null is written as an absent key
export const query4: AssemblyStatistics.Query = { region: "all", since: "x", templateId: null }

// Contradictory creations cannot be written.
const shared = { "tus-resumable": "1.0.0", "upload-metadata": metadata } as const
export const fixed: typeof TusUpload.FixedHeaders.Type = { ...shared, "upload-length": 5n }
// @ts-expect-error a deferred length has no length
export const deferred: typeof TusUpload.DeferredHeaders.Type = { ...shared, "upload-length": 5n }
// @ts-expect-error a final upload has no body
export const final: typeof TusUpload.FinalHeaders.Type = { ...shared, "content-type": TusUpload.offsetOctetStream }

// Metadata has its three keys.
// @ts-expect-error fieldname is missing
export const metadata1: TusUpload.Metadata = { assembly_url: "a", filename: "a" }
// @ts-expect-error a mandatory key has a value
export const metadata2: TusUpload.Metadata = { assembly_url: "a", filename: "a", fieldname: null }
export const metadata3: TusUpload.Metadata = { assembly_url: "a", filename: "a", fieldname: "a", seen: null }

// A scope is any text, with the known ones offered by the editor.
export const scopes: ReadonlyArray<Auth.Scope> = ["dam:write", "something:new"]
// @ts-expect-error at least one scope
export const token1: Auth.TokenRequest = { grantType: "client_credentials", aud: "api2", scope: [] }
