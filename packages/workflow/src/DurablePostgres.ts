/**
 * Durable jobs on any number of machines: the database is Postgres 14 or newer. Runners communicate only through
 * Postgres: they do not connect to each other, and open no port.
 *
 * This module needs the package `@effect/sql-pg`, so the index of this package does not export it.
 *
 * @since 0.1.0
 */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as PgClient from "@effect/sql-pg/PgClient"
import { Duration, Effect, type FileSystem, Layer, Schema } from "effect"
import type { HttpClient } from "effect/http"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import * as Durable from "./Durable.ts"
import type * as DurableError from "./DurableError.ts"
import * as Host from "./internal/host.ts"
import * as Secrets from "./internal/secrets.ts"
import * as Database from "./internal/database.ts"

/**
 * The options of a runner and of a client. All runners and clients of a deployment must have the same `secrets`.
 *
 * - `database`: how to connect to Postgres, usually `{ url: Redacted.make("postgres://…") }`. `maxConnections` is 10 by
 *   default.
 * - `expiry`: if a runner does not reach Postgres for this time, other runners take over its jobs. 12 seconds by
 *   default, at least 3 seconds and at most 5 minutes. Until the runner reaches Postgres again, its uploads stop.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends Durable.Options {
  readonly database: PgClient.PgPoolConfig
  readonly expiry?: Duration.Input | undefined
}

const expiry = Rules.duration.check(
  Schema.makeFilter(Duration.between({ minimum: Duration.seconds(3), maximum: Duration.minutes(5) }), {
    expected: "3 seconds to 5 minutes"
  })
)

const Settings = Schema.Struct({
  ...Host.Settings.fields,
  expiry: expiry.pipe(Schema.withDecodingDefault(Effect.succeed("12 seconds"))),
  database: Schema.Struct({ maxConnections: Schema.optional(Rules.whole(1)) })
})

const connect = (options: Options) =>
  Effect.gen(function* () {
    const sql = yield* PgClient.make({ applicationName: "assembly-effect", ...options.database })
    yield* sql`SELECT 1`
    return sql
  }).pipe(Effect.mapError(Database.failedTo("connect")), Effect.provide(Reactivity.layer))

type HostLayer = Layer.Layer<
  Durable.Durable | SqlClient.SqlClient,
  InvalidRequest | DurableError.InvalidSecret | DurableError.StoreFailed,
  AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem
>

/** The host of a process, with its own connection. The options are checked before the process connects. */
const host = (operation: string, options: Options, runs: boolean): HostLayer =>
  Effect.gen(function* () {
    const settings = yield* Rules.decoder(operation, Settings)(options)
    const secrets = yield* Secrets.make(settings.secrets)
    return Layer.effect(Durable.Durable, Host.make(secrets, settings, { expiry: settings.expiry, runs })).pipe(
      Layer.provideMerge(Layer.effect(SqlClient.SqlClient, connect(options)))
    )
  }).pipe(Layer.unwrap)

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
export const runner = (options: Options): HostLayer => host("DurablePostgres.runner", options, true)

/**
 * Starts, reads and cancels jobs, but does not run them. Use this Layer in a web server or a command beside the
 * runners. A job that is started without any runner is stored, and waits for the first runner.
 *
 * @since 0.1.0
 * @category layers
 */
export const client = (options: Options): HostLayer => host("DurablePostgres.client", options, false)
