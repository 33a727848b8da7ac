/**
 * Durable jobs in one process: the database is one file, and no server is needed.
 *
 * @since 0.1.0
 */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Printable from "@assembly-effect/schema/Printable"
import * as SqliteClient from "@assembly-effect/sqlite/SqliteClient"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as RunnerHealth from "effect/cluster/RunnerHealth"
import * as Runners from "effect/cluster/Runners"
import * as RunnerStorage from "effect/cluster/RunnerStorage"
import * as Sharding from "effect/cluster/Sharding"
import * as ShardingConfig from "effect/cluster/ShardingConfig"
import * as SqlMessageStorage from "effect/cluster/SqlMessageStorage"
import * as Digest from "effect/crypto/Digest"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import * as Reactivity from "effect/reactivity/Reactivity"
import * as SqlClient from "effect/sql/SqlClient"
import * as Durable from "./Durable.ts"
import * as DurableError from "./DurableError.ts"
import * as Announcing from "./internal/announcing.ts"
import * as Deployment from "./internal/deployment.ts"
import * as Derive from "./internal/derive.ts"
import * as FileModes from "./internal/fileModes.ts"
import * as Leaving from "./internal/leaving.ts"
import * as Host from "./internal/host.ts"
import * as Migrations from "./internal/migrations.ts"
import * as Outage from "./internal/outage.ts"
import * as SecretFile from "./internal/secretFile.ts"
import * as StoreError from "./internal/storeError.ts"

/**
 * The options of a runner. Without `secrets`, the runner reads the secret from the file `<path>.secret`, which only its
 * owner can read. The first start creates this file. Keep this file with the database.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends Omit<Durable.Options, "secrets"> {
  readonly secrets?: Durable.Options["secrets"] | undefined
}

const operation = "DurableSqlite.layer"

/**
 * Whether `path` is not the path of a lasting file. SQLite keeps a database with such a path in memory or in a
 * temporary file, or reads the path as a URI.
 */
const isNoFile = (path: string): boolean => path === "" || path === ":memory:" || path.startsWith("file:")

const checkPath = (path: string): Effect.Effect<void, InvalidRequest> =>
  isNoFile(path)
    ? Effect.fail(
        new InvalidRequest({
          operation,
          issues: [{ path: ["path"], message: "Expected the path of a file, so that the jobs outlive the process" }]
        })
      )
    : Effect.void

/**
 * Opens the database, and locks it: no other process can open the database while this process has it open. Except on
 * Windows, only the owner of the database can read it.
 */
const database = (path: string) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      yield* checkPath(path)
      yield* Effect.mapError(
        FileModes.closeDatabase(path),
        ({ message }) => new DurableError.StoreFailed({ operation: "open", description: message, path })
      )
      // After a power failure, a missing transaction could make the next process create a second Assembly.
      return yield* SqliteClient.make({ path, isExclusive: true, isSynced: true }).pipe(
        Effect.catchReason("SqlError", "LockTimeoutError", () => Effect.fail(new DurableError.DatabaseInUse({ path }))),
        Effect.catchTag("SqlError", (error) => Effect.fail(StoreError.of("open")(error)))
      )
    })
  ).pipe(Layer.provide(Reactivity.layer))

/**
 * The engine of a single runner. The runner has all shards, and needs no lock for each shard, because the process has
 * locked the whole database. Messages of this process arrive at once. By polling the database, the engine finds the
 * messages of an earlier process, and the durable clocks that are due.
 */
const engine = ClusterWorkflowEngine.layer.pipe(
  Layer.provideMerge(Sharding.layer),
  Layer.provide(Runners.layerNoop),
  Layer.provideMerge(Outage.layer.pipe(Layer.provide(SqlMessageStorage.layer))),
  Layer.provide([
    Leaving.layer.pipe(Layer.provide(RunnerStorage.layerMemory)),
    RunnerHealth.layerNoop,
    Digest.layerWebCrypto
  ]),
  Layer.provide(
    ShardingConfig.layer({
      entityMessagePollInterval: "1 second",
      entityTerminationTimeout: "2 seconds",
      simulateRemoteSerialization: false
    })
  ),
  StoreError.preparing
)

/**
 * Runs durable jobs in this process, with the database in the file `path`. The file is locked: a second process fails
 * with `DatabaseInUse`. The Layer also provides `Sharding`, which Effect's `ClusterCron` needs.
 *
 * **Details**
 *
 * Only the owner of the database can read the database: the Layer sets the mode of its file to 600, except on Windows.
 * If other users can read or write the file with the secret, the Layer fails with `InvalidSecret`.
 *
 * @example
 * Durable.run(job).pipe(
 *   Effect.provide(DurableSqlite.layer("jobs.db").pipe(Layer.provideMerge(AssemblyNode.layerConfig())))
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  path: string,
  options: Options = {}
): Layer.Layer<
  Durable.Durable | Sharding.Sharding,
  InvalidRequest | DurableError.DatabaseInUse | DurableError.InvalidSecret | DurableError.StoreFailed,
  AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem
> =>
  Layer.unwrap(
    Effect.gen(function* () {
      // Locks the database first, so that two processes cannot both create the secret.
      yield* SqlClient.SqlClient
      const secrets = options.secrets ?? [yield* SecretFile.read(`${path}.secret`)]
      const { fingerprints } = yield* Derive.make(secrets)
      yield* Migrations.run
      yield* Deployment.join({ fingerprints, isAlone: true, runs: true })
      const described = Announcing.layer({
        log: Effect.logDebug,
        store: Printable.escape(path),
        details: [Host.describeUploads(options.uploads)],
        after: "its jobs continue when a process opens the database"
      })
      return described(Layer.provideMerge(Durable.layer({ ...options, secrets }), engine))
    })
  ).pipe(Layer.provide(database(path)))
