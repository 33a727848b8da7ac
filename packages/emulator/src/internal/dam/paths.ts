import type * as DamStatements from "./damStatements.ts"

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
