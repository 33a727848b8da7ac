import * as Data from "effect/Data"

/** The reason why the DAM refused a request. A refused change has no effect. */
export type Reason =
  | "AssetNotFound"
  | "EntryNotFound"
  | "FolderNotFound"
  | "IntoItself"
  | "NameTaken"
  | "OtherCursor"
  | "PathTooLong"
  | "Repeated"
  | "VersionNotFound"

/** The path of a field of the request, such as `["asset_ids", 3]`. An empty path means the whole request. */
export type FieldPath = ReadonlyArray<string | number>

/** The DAM refused a request because of a field. */
export class Refused extends Data.TaggedError("DamRefused")<{
  readonly reason: Reason
  readonly path: FieldPath
}> {}

export const refuse = (reason: Reason, path: FieldPath = []): Refused => new Refused({ reason, path })
