import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Semaphore from "effect/Semaphore"
import * as SqlClient from "effect/sql/SqlClient"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Limits from "../limits.ts"
import * as Statement from "../data/statement.ts"
import * as Refusal from "../http/refusal.ts"
import { StepFailed } from "../robots/robot.ts"
import * as Execution from "./execution.ts"

const minute = 60_000

const limitReached = (seconds: number) =>
  new Refusal.Refusal({
    code: "RATE_LIMIT_REACHED",
    status: 413,
    message: "Request limit reached",
    info: { retryIn: seconds }
  })

/** The service gives this code; the text is the emulator's. */
const expired = new StepFailed({ error: "ASSEMBLY_EXPIRED", message: "The Assembly has exceeded its time." })

const counted = Statement.rows(Schema.Struct({ total: Schema.Int, at: Schema.NullOr(Schema.Int) })).one
const overdue = Statement.column(Schema.String).all

type Store = Effect.Effect<boolean, Refusal.Refusal | StorageFailed>

/**
 * The quotas of a Workspace for its Assemblies. The result stores a new Assembly, or refuses to, if the Workspace has
 * used up its quota.
 */
export const make = Effect.gen(function* () {
  const quotas = yield* Limits.Quotas
  if (quotas === undefined) return (_workspace: string, store: Store): Store => store
  const execution = yield* Execution.Execution
  const sql = yield* SqlClient.SqlClient
  // Otherwise two creations at once could both be the last that the quota allows.
  const one = yield* Semaphore.make(1)

  const admit = Effect.fnUntraced(function* (workspace: string, store: Store) {
    const millis = yield* Clock.currentTimeMillis
    /** The Assemblies that count for the rolling minute, and when the oldest of them was created. */
    const created = yield* counted(sql`
      SELECT count(*) AS total, min(created_at) AS at FROM
        (SELECT created_at FROM assemblies WHERE workspace = ${workspace} AND created_at > ${millis - minute}
         ORDER BY created_at DESC LIMIT ${quotas.created})`)
    if (created.total >= quotas.created) {
      return yield* limitReached(Math.max(1, Math.ceil(((created.at ?? millis) + minute - millis) / 1000)))
    }
    const running = yield* Statement.count(sql`
      SELECT count(*) FROM assemblies WHERE workspace = ${workspace} AND state = 'executing'`)
    return yield* running >= quotas.running ? limitReached(1) : store
  }, one.withPermits(1))

  const expire = Effect.gen(function* () {
    const millis = yield* Clock.currentTimeMillis
    const late = yield* overdue(sql`
      SELECT id FROM assemblies WHERE
        (state = 'uploading' AND created_at <= ${millis - Duration.toMillis(quotas.uploading)}) OR
        (state = 'executing' AND uploaded_at <= ${millis - Duration.toMillis(quotas.executing)})`)
    yield* Effect.forEach(late, (id) => execution.fail(id, expired), { discard: true })
  }).pipe(Effect.catch(({ message }) => Effect.logError(`Overdue Assemblies have not expired: ${message}`)))
  const shortest = Duration.min(quotas.uploading, quotas.executing)
  yield* Effect.forkScoped(Effect.repeat(expire, Schedule.spaced(Duration.min(shortest, Duration.minutes(1)))))

  return admit
})
