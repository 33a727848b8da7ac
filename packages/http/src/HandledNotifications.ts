/**
 * Remembers which notifications were handled, so that a repeated notification is not handled again.
 */
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Expected from "@assembly-effect/schema/unstable/Expected"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"

/**
 * The store of handled notifications failed. If a claim (see {@link Claim}) fails, the route of `Webhooks` answers 503,
 * so that the service repeats the notification.
 *
 * @since 0.1.0
 * @category errors
 */
export class StoreFailed extends Expected.TaggedError<StoreFailed>()(
  "StoreFailed",
  { description: Schema.String },
  (error) => `The store of handled notifications failed: ${error.description}`
) {}

/**
 * The result of a claim. A process claims a notification before it handles the notification.
 *
 * - `Claimed`: the caller handles the notification, and runs `renew` again and again meanwhile, so that the claim does
 *   not expire. After a success the caller runs `done`, and after a failure `release`.
 * - `Done`: the notification was handled before.
 * - `Busy`: another process has claimed the notification.
 *
 * @since 0.1.0
 * @category models
 */
export type Claim =
  | {
      readonly _tag: "Claimed"
      readonly renew: Effect.Effect<void, StoreFailed>
      readonly done: Effect.Effect<void, StoreFailed>
      readonly release: Effect.Effect<void, StoreFailed>
    }
  | { readonly _tag: "Done" }
  | { readonly _tag: "Busy" }

/**
 * The store of handled notifications. The key of a notification, a SHA-256 in hexadecimal digits, identifies the
 * notification.
 *
 * - `claim(key, lease)`: tries to claim a notification. The claim expires after the time `lease`, unless it is renewed.
 *   Then another process may claim the notification, because the first process may have ended.
 *
 * @since 0.1.0
 * @category services
 */
export class HandledNotifications extends Context.Service<
  HandledNotifications,
  { readonly claim: (key: string, lease: Duration.Duration) => Effect.Effect<Claim, StoreFailed> }
>()("@assembly-effect/http/HandledNotifications") {}

const Settings = Schema.Struct({ timeToLive: Schema.optional(Rules.duration) })

/**
 * The options of the stores. A value that breaks its rule fails with `InvalidRequest`.
 *
 * `timeToLive`: how long a handled notification is remembered, 7 days by default. A repetition after this time is
 * handled again.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends Schema.Codec.Encoded<typeof Settings> {}

const MemorySettings = Schema.Struct({ ...Settings.fields, capacity: Schema.optional(Rules.whole(1)) })

const decodeMemory = Rules.decoder("HandledNotifications", MemorySettings)

const lifetimeOf = ({ timeToLive = Duration.days(7) }: typeof Settings.Type) => Duration.toMillis(timeToLive)

/** How long a notification is remembered, in milliseconds. */
const decodeLifetime = (options: Options = {}) =>
  Effect.map(Rules.decoder("HandledNotifications", Settings)(options), lifetimeOf)

const done: Claim = { _tag: "Done" }
const busy: Claim = { _tag: "Busy" }

/**
 * Remembers the newest notifications that this process has handled, 10,000 by default (`capacity`). These notifications
 * are forgotten when the process ends.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerMemory = (
  options: typeof MemorySettings.Encoded = {}
): Layer.Layer<HandledNotifications, InvalidRequest> =>
  Layer.effect(
    HandledNotifications,
    Effect.map(decodeMemory(options), ({ capacity = 10_000, ...settings }) => {
      const lifetime = lifetimeOf(settings)
      // Maps each key to the time until which the key is remembered. A new key is added at the end, so the first key is
      // the oldest.
      const until = new Map<string, number>()

      const remember = (key: string) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          until.delete(key)
          until.set(key, now + lifetime)
          const [oldest] = until.keys()
          if (until.size > capacity && oldest !== undefined) until.delete(oldest)
        })

      return HandledNotifications.of({
        claim: (key) =>
          Effect.map(Clock.currentTimeMillis, (now): Claim => {
            if ((until.get(key) ?? 0) > now) return done
            return { _tag: "Claimed", renew: Effect.void, done: remember(key), release: Effect.void }
          })
      })
    })
  )

interface Row {
  readonly owner: string
  readonly done: number
}

const makeSql = Effect.fnUntraced(function* (options: Options | undefined) {
  const lifetime = yield* decodeLifetime(options)
  const sql = yield* SqlClient.SqlClient
  const random = yield* SecureRandom.SecureRandom
  const table = sql("assembly_notifications")

  const attempt = <A, E>(access: Effect.Effect<A, E>) =>
    Effect.mapError(access, () => new StoreFailed({ description: "the database cannot be read or written" }))

  yield* attempt(
    sql`CREATE TABLE IF NOT EXISTS ${table} (
      id CHAR(64) PRIMARY KEY, owner CHAR(36) NOT NULL, done SMALLINT NOT NULL, until_ms BIGINT NOT NULL
    )`
  )

  const insert = (row: Readonly<Record<string, string | number>>) =>
    sql.onDialectOrElse({
      mysql: () => sql`INSERT IGNORE INTO ${table} ${sql.insert(row)}`,
      orElse: () => sql`INSERT INTO ${table} ${sql.insert(row)} ON CONFLICT (id) DO NOTHING`
    })

  const forget = Effect.gen(function* () {
    yield* sql`DELETE FROM ${table} WHERE until_ms <= ${yield* Clock.currentTimeMillis}`
  })
  yield* forget.pipe(
    Effect.catch(() => Effect.logWarning("Old notifications could not be deleted")),
    Effect.repeat(Schedule.spaced("1 hour")),
    Effect.forkScoped
  )

  const claim = Effect.fnUntraced(function* (key: string, lease: Duration.Duration) {
    const owner = yield* random.uuidV4()
    const now = yield* Clock.currentTimeMillis
    yield* sql`DELETE FROM ${table} WHERE id = ${key} AND until_ms <= ${now}`
    yield* insert({ id: key, owner, done: 0, until_ms: now + Duration.toMillis(lease) })
    // The owner in the row shows whether this claim was the first. The result of the insert is not used, because each
    // database reports in its own way that it ignored an insert.
    const [row] = yield* sql<Row>`SELECT owner, done FROM ${table} WHERE id = ${key}`
    if (row === undefined) return busy
    if (row.owner !== owner) return Number(row.done) === 1 ? done : busy
    return {
      _tag: "Claimed",
      renew: attempt(
        Effect.gen(function* () {
          const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(lease)
          yield* sql`UPDATE ${table} SET until_ms = ${until} WHERE id = ${key} AND owner = ${owner} AND done = 0`
        })
      ),
      done: attempt(
        Effect.gen(function* () {
          const until = (yield* Clock.currentTimeMillis) + lifetime
          yield* sql`UPDATE ${table} SET done = 1, until_ms = ${until} WHERE id = ${key}`
        })
      ),
      release: attempt(sql`DELETE FROM ${table} WHERE id = ${key} AND owner = ${owner} AND done = 0`)
    } satisfies Claim
  })

  return HandledNotifications.of({ claim: (key, lease) => attempt(claim(key, lease)) })
})

/**
 * Remembers notifications in a SQL database, in the table `assembly_notifications`, which is created if it is missing.
 * If several processes share the database, only one process at a time handles a notification, as long as this process
 * renews its claim.
 *
 * **Details**
 *
 * The statements are written for SQLite, PostgreSQL and MySQL. The tests run these statements on SQLite only.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerSql = (
  options?: Options
): Layer.Layer<HandledNotifications, InvalidRequest | StoreFailed, SqlClient.SqlClient> =>
  Layer.effect(HandledNotifications, makeSql(options)).pipe(Layer.provide(SecureRandom.layerWebCrypto))
