import type * as NamedError from "@assembly-effect/schema/unstable/NamedError"
import * as Data from "effect/Data"

/** The error code and the message for each reason. */
export const refusals = {
  AssetNotFound: ["DAM_RESOURCE_NOT_FOUND", "There is no such asset in this Workspace."],
  EntryNotFound: ["DAM_RESOURCE_NOT_FOUND", "There is no such asset or folder in this Workspace."],
  FolderNotFound: ["DAM_RESOURCE_NOT_FOUND", "There is no such folder in this Workspace."],
  IntoItself: ["DAM_INVALID_REQUEST", "Expected a path outside the folder that is moved"],
  NameTaken: ["DAM_MUTATION_CONFLICT", "The folder contains another item with this name."],
  OtherCursor: ["DAM_INVALID_REQUEST", "Expected a next_cursor of this list, with the same prefix"],
  PathTooLong: ["DAM_INVALID_REQUEST", "The path has more than 512 code points or 1024 bytes."],
  Repeated: ["DAM_INVALID_REQUEST", "Expected each asset once"],
  VersionNotFound: ["DAM_RESOURCE_NOT_FOUND", "There is no such version of this asset."]
} as const satisfies Readonly<Record<string, readonly [code: NamedError.NamedCode, message: string]>>

/** The reason why the DAM refused a request. A refused change has no effect. */
export type Reason = keyof typeof refusals

/** The path of a field of the request, such as `["asset_ids", 3]`. An empty path means the whole request. */
export type FieldPath = ReadonlyArray<string | number>

/** The DAM refused a request because of a field. */
export class Refused extends Data.TaggedError("DamRefused")<{ readonly reason: Reason; readonly path: FieldPath }> {}

export const refuse = (reason: Reason, path: FieldPath = []): Refused => new Refused({ reason, path })
