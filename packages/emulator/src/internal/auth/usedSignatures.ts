import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Limits from "../../Limits.ts"
import * as Database from "../data/database.ts"

/**
 * Remembers used signatures until they expire, and at most the number in the limits. Official clients send no nonce, so
 * the signature itself may be used only once.
 */
export class UsedSignatures extends Context.Service<
  UsedSignatures,
  {
    /** Whether this is the first use. */
    readonly use: (signature: string, expires: DateTime.Utc) => Effect.Effect<boolean, StorageFailed>
  }
>()("@assembly-effect/emulator/UsedSignatures") {}

/** Exported for the test of its query plan. */
export const forgetSql = "DELETE FROM used_signatures WHERE expires_at <= :now"

/** Row ids grow with time, so the lowest ones are the oldest. */
const forgetFirstSql = `
DELETE FROM used_signatures WHERE rowid <= (SELECT max(rowid) FROM used_signatures) - :most`

const make = Effect.gen(function* () {
  const database = yield* Database.Database
  const { signatures: most } = yield* Limits.Limits
  const forget = database.command(forgetSql)
  const forgetFirst = database.command(forgetFirstSql)
  const remember = database.command(
    "INSERT INTO used_signatures (signature, expires_at) VALUES (:signature, :expires) ON CONFLICT DO NOTHING"
  )

  return UsedSignatures.of({
    use: Effect.fnUntraced(function* (signature, expires) {
      const now = yield* DateTime.now
      return yield* database.transaction(() => {
        forget({ now: now.epochMilliseconds })
        const isFirst = remember({ signature, expires: expires.epochMilliseconds }) === 1
        forgetFirst({ most })
        return isFirst
      })
    })
  })
})

export const layer: Layer.Layer<UsedSignatures, never, Database.Database> = Layer.effect(UsedSignatures, make)
