import { createHmac, timingSafeEqual } from "node:crypto"

/**
 * A place in a walk through a list of assets. The next page starts after the position `after`. `until` is the position
 * of the newest asset when the walk started.
 */
export interface Walk {
  readonly after: number
  readonly until: number
}

/** The list that a cursor belongs to. */
export interface Listed {
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
export const make = (key: string, listed: Listed, { after, until }: Walk): string => {
  const content = Buffer.alloc(positions)
  content.writeBigUInt64BE(BigInt(after), 0)
  content.writeBigUInt64BE(BigInt(until), positions / 2)
  return Buffer.concat([content, tagOf(key, listed, content)]).toString("base64url")
}

/** Reads a cursor. Returns undefined if {@link make} did not make the cursor for this list. */
export const read = (key: string, listed: Listed, cursor: string): Walk | undefined => {
  const bytes = Buffer.from(cursor, "base64url")
  if (bytes.length !== positions + tag || bytes.toString("base64url") !== cursor) return undefined
  const content = bytes.subarray(0, positions)
  if (!timingSafeEqual(bytes.subarray(positions), tagOf(key, listed, content))) return undefined
  return { after: Number(content.readBigUInt64BE(0)), until: Number(content.readBigUInt64BE(positions / 2)) }
}
