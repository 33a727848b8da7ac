import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StorageFailed } from "../EmulatorError.ts"
import * as Database from "./Database.ts"

/**
 * Signatures that were used, remembered until they expire: official clients send no nonce, so it is the signature
 * that must not come twice.
 */
export class UsedSignatures extends Context.Service<
  UsedSignatures,
  {
    /** Whether this is the first use. */
    readonly use: (signature: string, expires: DateTime.Utc) => Effect.Effect<boolean, StorageFailed>
  }
>()("@assembly-effect/emulator/UsedSignatures") {}

const make = Effect.gen(function* () {
  const database = yield* Database.Database
  const forget = database.command("DELETE FROM used_signatures WHERE expires_at <= :now")
  const remember = database.command(
    "INSERT INTO used_signatures (signature, expires_at) VALUES (:signature, :expires) ON CONFLICT DO NOTHING"
  )

  return UsedSignatures.of({
    use: Effect.fnUntraced(function* (signature, expires) {
      const now = yield* DateTime.now
      return yield* database.transaction(() => {
        forget({ now: now.epochMilliseconds })
        return remember({ signature, expires: expires.epochMilliseconds }) === 1
      })
    })
  })
})

export const layer: Layer.Layer<UsedSignatures, never, Database.Database> = Layer.effect(UsedSignatures, make)
