/**
 * A process that runs docs/examples/publish-documents.ts. It reports the memory that it holds, in bytes, beside the
 * number of published rows. Arguments: the URL of the service, the Auth Key, its secret, and the path of the database.
 */
import * as AssemblyClient from "@assembly-effect/api/AssemblyClient"
import * as Authenticator from "@assembly-effect/auth/Authenticator"
import * as Credentials from "@assembly-effect/auth/Credentials"
import * as SqliteClient from "@assembly-effect/sqlite/SqliteClient"
import * as AssemblyUpload from "@assembly-effect/tus/AssemblyUpload"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as SqlClient from "effect/sql/SqlClient"
import { publishDocuments } from "../../../docs/examples/publish-documents.ts"

const [baseUrl = "", key = "", secret = "", path = ""] = process.argv.slice(2)

const report = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT count(*) AS count FROM documents WHERE url IS NOT NULL`
  globalThis.gc?.()
  process.send?.({ published: row?.["count"], heap: process.memoryUsage().heapUsed })
})

const program = Effect.raceFirst(publishDocuments, Effect.repeat(report, Schedule.spaced("500 millis"))).pipe(
  Effect.provide(
    AssemblyUpload.layer.pipe(
      Layer.provideMerge(AssemblyClient.layer({ baseUrl })),
      Layer.provide(Authenticator.layerSigned()),
      Layer.provide(Credentials.layer({ key, secret: Redacted.make(secret) })),
      Layer.provideMerge(Layer.merge(NodeHttpClient.layerUndici, SqliteClient.layer({ path })))
    )
  )
)

await Effect.runPromise(program)
process.exit(0)
