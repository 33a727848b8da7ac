/**
 * Durable jobs in one process: the database is one file, and no server is needed.
 *
 * @since 0.1.0
 */
import type * as ApiError from "@assembly-effect/api/ApiError"
import type { AssemblyClient } from "@assembly-effect/api/AssemblyClient"
import * as Effect from "effect/Effect"
import type * as FileSystem from "effect/FileSystem"
import type * as HttpClient from "effect/http/HttpClient"
import * as Layer from "effect/Layer"
import type { Sharding } from "effect/cluster/Sharding"
import type * as Durable from "./Durable.ts"
import type * as DurableError from "./DurableError.ts"

/**
 * The options of a runner. Without `secrets`, the secret is in the file `<path>.secret`, which only its owner can read;
 * it is created if it is missing. Keep it with the database.
 *
 * @since 0.1.0
 * @category options
 */
export interface Options extends Omit<Durable.Options, "secrets"> {
  readonly secrets?: Durable.Options["secrets"] | undefined
}

/**
 * Runs durable jobs in this process, with the database in the file `path`. The file is locked: a second process fails
 * with `DatabaseInUse`.
 *
 * @example
 * Durable.run(job).pipe(
 *   Effect.provide(DurableSqlite.layer("jobs.db").pipe(Layer.provideMerge(AssemblyNode.layerConfig())))
 * )
 *
 * @since 0.1.0
 * @category layers
 */
export declare const layer: (
  path: string,
  options?: Options
) => Layer.Layer<
  Durable.Durable | Sharding,
  ApiError.InvalidRequest | DurableError.DatabaseInUse | DurableError.InvalidSecret | DurableError.StoreFailed,
  AssemblyClient | HttpClient.HttpClient | FileSystem.FileSystem
>
