/** The stores of the emulator, for tests without HTTP. */
import { AssemblyId } from "@assembly-effect/schema/Assembly"
import { Clock, Effect, Layer, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type * as AssemblyStore from "../src/internal/assembly/assemblyStore.ts"
import * as Database from "../src/internal/data/database.ts"

/** A database in memory, and the random source of the stores. */
export const layerData = (path = ":memory:") => Layer.mergeAll(Database.layer(path), SecureRandom.layerWebCrypto)

const decodePlan = Schema.decodeUnknownSync(Schema.Array(Schema.Struct({ detail: Schema.String })))

/** The steps of SQLite's query plan for a statement. */
export const planOf = Effect.fnUntraced(function* (text: string, params: ReadonlyArray<unknown>) {
  const sql = yield* SqlClient.SqlClient
  return decodePlan(yield* sql.unsafe(`EXPLAIN QUERY PLAN ${text}`, params)).map(({ detail }) => detail)
})

/** A database in memory. */
export const layerAssemblies = layerData()

let ids = 0

/** Inserts an Assembly that waits for uploads. */
export const newAssembly = (workspace: string, expected_uploads = 0): Effect.Effect<AssemblyStore.New> =>
  Effect.map(Clock.currentTimeMillis, (created_at) => ({
    id: AssemblyId.make((ids++).toString(16).padStart(32, "0")),
    workspace,
    region: "eu-west-1",
    state: "uploading",
    steps: {},
    template_id: null,
    fields: {},
    notify_url: null,
    redirect_url: null,
    expected_uploads,
    auth_key: "key",
    is_signed: true,
    max_size: null,
    parent_id: null,
    uploads_from: null,
    emit_progress: false,
    notification_payload: [],
    receiving: false,
    created_at
  }))
