/**
 * One budget for all processes of an account, in a database of SQLite or Postgres. Durable jobs use such a budget in their
 * own database by default.
 *
 * @since 0.1.0
 */
import type * as Budget from "@assembly-effect/api/Budget"
import * as Low from "@assembly-effect/auth/unstable/Budget"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import { Effect, Layer, type Redacted, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { InvalidSecret, StoreFailed } from "./DurableError.ts"
import * as OverSql from "./internal/budget.ts"
import * as Secrets from "./internal/secrets.ts"

/**
 * - `secrets`: as in the options of durable jobs. The ids of running Assemblies are encrypted with these secrets. All
 *   processes that share a budget must have the same secrets.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends Budget.Options {
  readonly secrets: ReadonlyArray<Redacted.Redacted>
}

const decode = Rules.decoder("BudgetSql.layer", Schema.Struct({ secrets: Secrets.Setting }))

/**
 * Does the same as `Budget.layer`, for all processes that use the database. Creates the missing tables. To share the
 * quotas with durable jobs, use the database and the secrets of these jobs.
 *
 * @example
 * AssemblyNode.layerConfig().pipe(
 *   Layer.provide(BudgetSql.layer({ secrets: [Redacted.make("a secret of the deployment, at least 32 bytes")] })),
 *   Layer.provide(SqliteClient.layer({ path: "app.db" }))
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: Options
): Layer.Layer<never, InvalidRequest | InvalidSecret | StoreFailed, SqlClient.SqlClient> =>
  Layer.effect(
    Low.Budget,
    Effect.gen(function* () {
      const { secrets } = yield* decode(options)
      return yield* OverSql.make(yield* Secrets.make(secrets), options)
    })
  )
