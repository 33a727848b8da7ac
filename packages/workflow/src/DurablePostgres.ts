/**
 * Durable jobs on any number of machines: the database is Postgres 14 or newer. Runners communicate only through
 * Postgres: they do not connect to each other, and open no port.
 *
 * This module needs the package `@effect/sql-pg`, so the index of this package does not export it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Printable from "@assembly-effect/schema/Printable"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as SqlRunnerStorage from "effect/cluster/SqlRunnerStorage"
import * as Digest from "effect/crypto/Digest"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import * as Durable from "./Durable.ts"
import type * as DurableError from "./DurableError.ts"
import * as Announcing from "./internal/announcing.ts"
import * as Deployment from "./internal/deployment.ts"
import * as Derive from "./internal/derive.ts"
import * as Host from "./internal/host.ts"
import * as Lease from "./internal/lease.ts"
import * as Leaving from "./internal/leaving.ts"
import * as Migrations from "./internal/migrations.ts"
import * as StoreError from "./internal/storeError.ts"

/**
 * The options of a runner and of a client. All runners and clients of a deployment must have the same `secrets`, and
 * all runners must have the same `expiry`.
 *
 * - `database`: how to connect to Postgres, usually `{ url: Redacted.make("postgres://…") }`. A runner holds one
 *   connection for its locks, so `maxConnections` is at least 2. The default is 10.
 * - `expiry`: if a runner does not refresh its locks for this time, other runners take over its jobs. 12 seconds by
 *   default, at least 3 seconds and at most 5 minutes. A runner that cannot reach Postgres for a third of this time
 *   stops its uploads, and continues them when Postgres answers.
 * - `poll`: how often a runner reads the messages and replies of the engine, half a second by default.
 * - `termination`: how long a runner may take to stop a job that another runner has taken over, 1 second by default.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends Durable.Options {
  readonly database: PgClient.PgPoolConfig
  readonly expiry?: Duration.Input | undefined
  readonly poll?: Duration.Input | undefined
  readonly termination?: Duration.Input | undefined
}

const settingIssues = Rules.checker(
  Schema.Struct({
    expiry: Schema.optional(
      Rules.duration.check(
        Schema.makeFilter(Duration.between({ minimum: Duration.seconds(3), maximum: Duration.minutes(5) }), {
          expected: "3 seconds to 5 minutes"
        })
      )
    ),
    poll: Schema.optional(Rules.duration),
    termination: Schema.optional(Rules.pause),
    database: Schema.Struct({ maxConnections: Schema.optional(Rules.whole(2)) })
  })
)

/** Checks the options before this process connects to the database. */
const check = Effect.fnUntraced(function* (operation: string, options: Options) {
  const issues = [...settingIssues(options), ...Host.issues(options)]
  if (issues.length > 0) return yield* new InvalidRequest({ operation, issues })
  yield* Derive.make(options.secrets)
})

/**
 * The address that identifies this runner in the database. Each start makes a new address, so that the other runners do
 * not mistake a restarted runner for the runner that died. Nothing connects to this address.
 */
const name = Effect.flatMap(SecureRandom.SecureRandom, ({ uuidV4 }) => uuidV4()).pipe(
  Effect.map((id) => RunnerAddress.make(id, 0)),
  Effect.provide(SecureRandom.layerWebCrypto)
)

/**
 * How many shards the jobs are divided into. Each row contains the number of its shard, so the number of shards must
 * never change. When a runner joins, the other runners release the shards that the new runner takes over, with separate
 * statements for each shard. With more shards, the release would take longer on a busy database.
 */
const shards = 64

const expiryOf = ({ expiry }: Options): Duration.Duration => Duration.fromInputUnsafe(expiry ?? Duration.seconds(12))

const config = (options: Options, address: Option.Option<RunnerAddress.RunnerAddress>) => {
  const expiry = expiryOf(options)
  return ShardingConfig.layer({
    runnerAddress: address,
    shardsPerGroup: shards,
    shardLockExpiration: expiry,
    shardLockRefreshInterval: Duration.divideUnsafe(expiry, 3),
    refreshAssignmentsInterval: Duration.seconds(1),
    entityMessagePollInterval: options.poll ?? Duration.millis(500),
    entityReplyPollInterval: options.poll ?? Duration.millis(500),
    entityTerminationTimeout: options.termination ?? Duration.seconds(1),
    // Jobs and messages above these limits wait in the database.
    maxResidentEntities: 512,
    unprocessedMessageBatchSize: 64
  })
}

const connect = (options: Options) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.make({ applicationName: "assembly-effect", ...options.database })
    yield* sql`SELECT 1`
    return sql
  }).pipe(Effect.mapError(StoreError.of("connect")), Effect.provide(Reactivity.layer))

/** Connects, and joins the deployment before the engine of this process takes any shard. */
const database = (options: Options, runs: boolean) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      const sql = yield* connect(options)
      const { fingerprints } = yield* Derive.make(options.secrets)
      const joined = Deployment.join({ fingerprints, runs, expiry: runs ? expiryOf(options) : undefined })
      yield* Effect.provideService(Effect.andThen(Migrations.run, joined), SqlClient.SqlClient, sql)
      return sql
    })
  )

/** The storage of the locks of all runners, with the lease that says which locks this runner still holds. */
const runnerStorage = (options: Options) =>
  Lease.layer(expiryOf(options)).pipe(Layer.provide(Leaving.layer), Layer.provide(Layer.orDie(SqlRunnerStorage.layer)))

/**
 * The cluster of Effect, without network connections between runners: a runner reads messages and replies from the
 * database.
 */
const cluster = (options: Options, address: Option.Option<RunnerAddress.RunnerAddress>) =>
  ClusterWorkflowEngine.layer.pipe(
    Layer.provideMerge(Sharding.layer),
    Layer.provide(Runners.layerNoop),
    Layer.provideMerge(SqlMessageStorage.layer.pipe(Layer.provide(Digest.layerWebCrypto))),
    // No pings are sent, because the rows that runners refresh in the database show which runners are alive. A runner
    // that answers a ping may have lost its connection to the database.
    Layer.provide(RunnerHealth.layerNoop),
    Layer.provideMerge(runnerStorage(options)),
    Layer.provide(config(options, address)),
    StoreError.preparing,
    Layer.provideMerge(database(options, Option.isSome(address)))
  )

/** The host and the name of the database, for the log. The other parts of the address may be secrets. */
const storeOf = ({ database: { database: named, host, port, url } }: Options): string => {
  const address = url !== undefined && URL.canParse(Redacted.value(url)) ? new URL(Redacted.value(url)) : undefined
  const at = address?.host ?? [host ?? "localhost", ...(port === undefined ? [] : [port])].join(":")
  const which = address?.pathname.slice(1) ?? named ?? ""
  return Printable.escape(`Postgres ${at}${which === "" ? "" : `/${which}`}`)
}

type HostLayer = Layer.Layer<
  Durable.Durable | Sharding.Sharding,
  InvalidRequest | DurableError.InvalidSecret | DurableError.StoreFailed,
  AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem
>

/**
 * Runs durable jobs in this process, together with all other runners of the database. Runners may join and leave at any
 * time. When a runner leaves or dies, the other runners continue its jobs at the bytes that the service has stored.
 *
 * **Details**
 *
 * - A runner that ends normally (SIGTERM with `NodeRuntime.runMain`) hands its jobs over at once. The jobs of a runner
 *   that was killed are taken over after `expiry`.
 * - The first start creates the tables, so the database user needs the permission to create tables.
 *
 * **Gotchas**
 *
 * - A runner holds its locks in one session of Postgres. A pooler in front of Postgres must keep a session for each
 *   connection: PgBouncer in transaction mode does not.
 * - Whoever can write to the database can start jobs and read the params of all jobs.
 *
 * @example
 * DurablePostgres.runner({
 *   database: { url: Redacted.make("postgres://uploads:password@db.internal/uploads") },
 *   secrets: [Redacted.make("a secret of the deployment, at least 32 bytes")]
 * })
 *
 * @since 0.1.0
 * @category layers
 */
export const runner = (options: Options): HostLayer =>
  Layer.unwrap(
    Effect.gen(function* () {
      yield* check("DurablePostgres.runner", options)
      const described = Announcing.layer({
        log: Effect.logInfo,
        store: storeOf(options),
        details: [Host.describeUploads(options.uploads), `expiry ${Duration.format(expiryOf(options))}`],
        after: "the other runners continue its jobs"
      })
      return described(Durable.layer(options).pipe(Layer.provideMerge(cluster(options, Option.some(yield* name)))))
    })
  )

/**
 * Starts, reads and cancels jobs, but does not run them. Use this Layer in a web server or a command beside the
 * runners. A job that is started without any runner is stored, and waits for the first runner.
 *
 * @since 0.1.0
 * @category layers
 */
export const client = (options: Options): HostLayer =>
  Layer.unwrap(
    Effect.map(check("DurablePostgres.client", options), () =>
      Durable.layerClient(options).pipe(Layer.provideMerge(cluster(options, Option.none())))
    )
  )
