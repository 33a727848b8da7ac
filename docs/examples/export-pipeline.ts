/**
 * A pipeline from a database to a database: the rows of a table become a compressed archive, the archive is uploaded
 * while it is made, and the URLs of the files that the Steps make of it are stored in a table. Neither all rows nor the
 * whole archive are in memory.
 */
import { Assemblies } from "@assembly-effect/api"
import * as Results from "@assembly-effect/api/Results"
import { Upload, UploadTarget } from "@assembly-effect/tus"
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Data, Effect, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { createGzip } from "node:zlib"

class CompressionFailed extends Data.TaggedError("CompressionFailed")<{ readonly cause: unknown }> {}

/** Reads a table in pages of 1,000 rows, in the order of their ids. */
const customers = Stream.paginate(0, (after: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`SELECT id, name FROM customers WHERE id > ${after} ORDER BY id LIMIT 1000`
    const last = rows.length < 1000 ? undefined : Number(rows.at(-1)?.["id"])
    return [rows, Option.fromUndefinedOr(last)] as const
  })
)

/** One JSON object on each line, compressed. */
const archive = customers.pipe(
  Stream.map((row) => `${JSON.stringify(row)}\n`),
  Stream.encodeText,
  NodeStream.pipeThroughDuplex({
    evaluate: () => createGzip(),
    onError: (cause) => new CompressionFailed({ cause })
  })
)

/** Uploads the archive, waits for its results, and stores the URL of each file. Returns the number of files. */
export const exportCustomers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const created = yield* Assemblies.create({
    steps: {
      ":original": { robot: "/upload/handle" },
      stored: { robot: "/transloadit/store", use: ":original", path: "exports/${file.name}" }
    },
    numExpectedUploadFiles: 1
  })
  const target = yield* UploadTarget.fromAssembly(created)
  const metadata = { filename: "customers.jsonl.gz", fieldname: "file" }
  yield* Stream.run(archive, Upload.sink(target, { metadata })).pipe(
    // Without its file, the Assembly would wait until it expires.
    Effect.onError(() => Effect.ignore(Assemblies.cancel(created.assembly_id)))
  )

  const status = yield* Assemblies.awaitCompletion(created.assembly_id)
  const files = Results.of(status).get("stored") ?? []
  yield* Effect.forEach(
    files,
    ({ md5hash = null, name = null, size = null, ssl_url = null }) =>
      sql`INSERT INTO exports ${sql.insert({ assembly_id: created.assembly_id, md5hash, name, size, url: ssl_url })}`,
    { discard: true }
  ).pipe(sql.withTransaction)
  return files.length
})
