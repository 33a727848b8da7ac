/**
 * Durable jobs in one process: the database is one file, and no server is needed.
 *
 * @since 0.1.0
 */
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import type { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Rules from "@assembly-effect/schema/unstable/Options"
import * as SqliteClient from "@assembly-effect/sqlite/SqliteClient"
import { Effect, type FileSystem, Layer, Schema } from "effect"
import type { HttpClient } from "effect/http"
import * as Reactivity from "effect/reactivity/Reactivity"
import { SqlClient } from "effect/sql"
import * as Durable from "./Durable.ts"
import * as DurableError from "./DurableError.ts"
import * as Host from "./internal/host.ts"
import * as OwnerFiles from "./internal/ownerFiles.ts"
import * as Secrets from "./internal/secrets.ts"
import * as Database from "./internal/database.ts"

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

/** SQLite keeps a database with another path in memory or in a temporary file, or reads the path as a URI. */
const FilePath = Schema.String.check(
  Schema.isPattern(/^(?!:memory:$|file:)./su, { expected: "the path of a file, so that the jobs outlive the process" })
)

const Settings = Schema.Struct({
  ...Host.Settings.fields,
  secrets: Schema.optional(Secrets.Setting),
  path: FilePath
})

const decode = Rules.decoder("DurableSqlite.layer", Settings)

/**
 * Opens the database, and locks it: no other process can open the database while this process has it open. Except on
 * Windows, only the owner of the database can read it.
 */
const database = (path: string) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.gen(function* () {
      yield* OwnerFiles.createDatabase(path)
      // After a power failure, a missing transaction could make the next process create a second Assembly.
      const client = yield* SqliteClient.make({ path, isExclusive: true, isSynced: true })
      yield* OwnerFiles.closeDatabase(path)
      return client
    }).pipe(
      Effect.catchReason("SqlError", "LockTimeoutError", () => Effect.fail(new DurableError.DatabaseInUse({ path }))),
      Effect.catchTags({
        SqlError: (error) => Effect.fail(Database.failedTo("open")(error)),
        PlatformError: ({ message }) =>
          Effect.fail(new DurableError.StoreFailed({ operation: "open", description: message, path }))
      })
    )
  ).pipe(Layer.provide(Reactivity.layer))

/**
 * Runs durable jobs in this process, with the database in the file `path`. The file is locked: a second process fails
 * with `DatabaseInUse`.
 *
 * **Details**
 *
 * Only the owner of the database can read the database: the Layer sets the mode of its file to 600, except on Windows.
 * If other users can read or write the file with the secret, the Layer fails with `InvalidSecret`.
 *
 * The Layer also provides the `SqlClient` of the file, for the tables of your application, and for
 * `HandledNotifications.layerSql` of `@assembly-effect/http`.
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
  Durable.Durable | SqlClient.SqlClient,
  InvalidRequest | DurableError.DatabaseInUse | DurableError.InvalidSecret | DurableError.StoreFailed,
  AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem
> =>
  Effect.map(decode({ ...options, path }), (settings) =>
    Layer.effect(
      Durable.Durable,
      Effect.gen(function* () {
        // Before the secret, because whether jobs have begun decides whether a new secret is made.
        yield* Database.migrate
        const secrets = yield* Secrets.make(settings.secrets ?? [yield* OwnerFiles.readSecret(`${path}.secret`)])
        return yield* Host.make(secrets, settings, { expiry: undefined, runs: true })
      })
      // Locks the database first, so that two processes cannot both create the secret.
    ).pipe(Layer.provideMerge(database(path)))
  ).pipe(Layer.unwrap)
