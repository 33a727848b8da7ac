import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Limits from "../limits.ts"
import * as Statement from "../data/statement.ts"

/** Forgets expired signatures. This function is exported, because a test checks the query plan. */
export const forget = (sql: SqlClient.SqlClient, now: number) =>
  sql`DELETE FROM used_signatures WHERE expires_at <= ${now}`

const known = Statement.rows(Schema.Unknown).first

/**
 * Accepts each signature only once. The emulator remembers signatures instead of nonces, because official clients send
 * no nonce. A used signature is remembered until it expires, or until as many newer signatures were used as the limit
 * `signatures` allows.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { signatures: most } = yield* Limits.Limits

  /** The used signatures that could not be stored, the oldest first. */
  const unstored = new Set<string>()

  const store = Effect.fnUntraced(
    function* (signature: string, expires: DateTime.Utc) {
      const now = yield* DateTime.now
      yield* forget(sql, now.epochMilliseconds)
      const row = { signature, expires_at: expires.epochMilliseconds }
      const isFirst = yield* Statement.isChange(
        sql`INSERT INTO used_signatures ${sql.insert(row)} ON CONFLICT DO NOTHING`
      )
      // Deletes the oldest rows beyond the limit. Row ids increase, so the oldest rows have the lowest ids.
      yield* sql`DELETE FROM used_signatures WHERE rowid <= (SELECT max(rowid) FROM used_signatures) - ${most}`
      return isFirst
    },
    sql.withTransaction,
    Statement.stored
  )

  const rememberHere = Effect.fnUntraced(function* (signature: string) {
    const stored = yield* known(sql`SELECT 1 FROM used_signatures WHERE signature = ${signature}`)
    if (Option.isSome(stored) || unstored.has(signature)) return false
    unstored.add(signature)
    for (const oldest of unstored) if (unstored.size > most) unstored.delete(oldest)
    return true
  })

  return {
    /**
     * Marks a signature as used, and returns whether this is its first use. A signature that cannot be stored, for
     * example because the disk is full, is remembered in memory, so that a request that only reads does not fail.
     */
    use: (signature: string, expires: DateTime.Utc) =>
      Effect.suspend(() =>
        unstored.has(signature)
          ? Effect.succeed(false)
          : Effect.catchTag(store(signature, expires), "StorageFailed", () => rememberHere(signature))
      )
  }
})
