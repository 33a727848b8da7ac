import * as Effect from "effect/Effect"
import * as Turns from "../http/turns.ts"
import type * as DamStatements from "./damStatements.ts"
import * as Rules from "./rules.ts"
import { createHmac, timingSafeEqual } from "node:crypto"

/**
 * A place in a walk through a list of assets. The next page starts after the position `after`. `until` is the position
 * of the newest asset when the walk started.
 */
interface Walk {
  readonly after: number
  readonly until: number
}

/** The list that a cursor belongs to. */
interface Listed {
  readonly workspace: string
  readonly prefix: string
}

/** The number of bytes of both positions together, and the number of bytes of the tag that follows. */
const positions = 16
const tag = 16

/** The tag covers the list, so that a cursor of another Workspace or prefix is invalid. */
const tagOf = (key: string, { prefix, workspace }: Listed, content: Uint8Array): Buffer =>
  createHmac("sha256", key)
    .update(JSON.stringify(["dam list", workspace, prefix]))
    .update(content)
    .digest()
    .subarray(0, tag)

/** Makes the cursor of the next page. `key` is the secret in the table `dam_cursors`. */
const makeCursor = (key: string, listed: Listed, { after, until }: Walk): string => {
  const content = Buffer.alloc(positions)
  content.writeBigUInt64BE(BigInt(after), 0)
  content.writeBigUInt64BE(BigInt(until), positions / 2)
  return Buffer.concat([content, tagOf(key, listed, content)]).toString("base64url")
}

/** Reads a cursor. Returns undefined if {@link make} did not make the cursor for this list. */
const readCursor = (key: string, listed: Listed, cursor: string): Walk | undefined => {
  const bytes = Buffer.from(cursor, "base64url")
  if (bytes.length !== positions + tag || bytes.toString("base64url") !== cursor) return undefined
  const content = bytes.subarray(0, positions)
  if (!timingSafeEqual(bytes.subarray(positions), tagOf(key, listed, content))) return undefined
  return { after: Number(content.readBigUInt64BE(0)), until: Number(content.readBigUInt64BE(positions / 2)) }
}

/** A list request. `prefix` is the beginning of the paths; the empty prefix lists all assets. */
export interface Listing extends Listed {
  readonly cursor: string | undefined
  readonly limit: number
}

/** The maximum number of assets that are read in one turn. */
const maxSlice = 512

/**
 * The number of assets to read in one turn, to find `count` assets. The number is a power of two, so that SQLite
 * prepares only a few different statements.
 */
const sliceFor = (count: number): number => Math.min(maxSlice, 2 ** Math.ceil(Math.log2(count)))

/** Converts a prefix to the form of stored paths: in NFC, and without the optional slash at its start. */
const normalise = (prefix: string): string => Rules.withoutSlash(prefix.normalize("NFC"))

/**
 * Lists assets in the order of their creation, which moves do not change. Therefore a walk through all pages returns
 * each asset that matches the prefix during the whole walk exactly once. The walk ends at the asset that was the newest
 * one when the walk started. Therefore the walk ends even if the client stores a new asset for each asset that the
 * client reads.
 *
 * The cost of a whole walk is linear in the number of assets of the Workspace. A page starts at the first match that
 * the previous page did not return, so the page does not read the assets before this match again.
 */
export const list = Effect.fnUntraced(function* (
  sql: DamStatements.Statements,
  key: string,
  { cursor, limit, workspace, ...asked }: Listing
) {
  const listed = { workspace, prefix: normalise(asked.prefix) }
  const walk =
    cursor === undefined ? { after: 0, until: yield* sql.lastPosition(workspace) } : readCursor(key, listed, cursor)
  if (walk === undefined) return yield* Rules.refuse("OtherCursor", ["cursor"])

  // A prefix with a lone surrogate matches nothing, because no stored path contains a lone surrogate. In JavaScript, a
  // lone surrogate could match the first half of a character.
  const isWellFormed = listed.prefix.isWellFormed()
  const assets: Array<DamStatements.AssetRow> = []
  let { after } = walk
  for (let slice = sliceFor(limit + 1); ; slice = sliceFor(slice * 2)) {
    const rows = yield* Turns.share(sql.slice(workspace, { after, until: walk.until, limit: slice }))
    for (const row of rows) {
      if (!isWellFormed || !row.path.startsWith(listed.prefix)) continue
      if (assets.length === limit) {
        const next = { after: row.position - 1, until: walk.until }
        return { assets, nextCursor: makeCursor(key, listed, next) }
      }
      assets.push(row)
    }
    if (rows.length < slice) return { assets, nextCursor: null }
    after = rows.at(-1)?.position ?? walk.until
  }
})
