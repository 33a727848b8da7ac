import * as Refusal from "../http/refusal.ts"
import type * as DamStatements from "./damStatements.ts"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import type * as NamedError from "@assembly-effect/schema/unstable/NamedError"

const utf8 = new TextEncoder()

/** The limits of spec.md, "Limits". These limits apply to the normalised path with its separators. */
const most = { codePoints: 512, bytes: 1024 }

export const isTooLong = (path: string): boolean =>
  [...path].length > most.codePoints || utf8.encode(path).length > most.bytes

export const isLongestTooLong = ({ bytes, code_points }: { readonly bytes: number; readonly code_points: number }) =>
  code_points > most.codePoints || bytes > most.bytes

/** Adds a name to the path of a folder. An undefined folder is the root. */
export const join = (folder: DamStatements.FolderRow | undefined, name: string): string =>
  folder === undefined ? name : `${folder.path}/${name}`

/** Removes the optional slash at the start of a path. */
export const withoutSlash = (path: string): string => path.replace(/^\//, "")

/** The error code and the message for each reason why the DAM refuses a request. */
const refusals = {
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

/**
 * The refusal of a request because of a field. `path` is the path of the field, such as `["asset_ids", 3]`; an empty path
 * means the whole request. A refused change has no effect.
 */
export const refuse = (reason: keyof typeof refusals, path: Issue["path"] = []): Refusal.Refusal => {
  const [code, message] = refusals[reason]
  return Refusal.named(code, Refusal.explain([{ path, message }]))
}
