/**
 * A pipeline with two Assemblies for each row of a table: the first gets the compressed document of the row, its result
 * is the file of the second, and the URL of the last result is stored in the row. Only the rows that are on their way
 * are in memory. With a journal, a run that ended early is continued, and no row is published twice.
 */
import { Assemblies } from "@assembly-effect/api"
import * as Results from "@assembly-effect/api/Results"
import { AssemblyUpload, UploadSource, WebSource } from "@assembly-effect/tus"
import type { Assembly } from "@assembly-effect/schema"
import { Data, Effect, Option, Stream } from "effect"
import type { HttpClient } from "effect/http"
import { SqlClient } from "effect/sql"
import { gzipSync } from "node:zlib"

class NoResult extends Data.TaggedError("NoResult")<{ readonly step: string }> {}

interface Document {
  readonly id: number
  readonly body: string
}

/** The rows without a URL, in pages of 200 rows. */
const documents = Stream.paginate(0, (after: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql<Document>`
      SELECT id, body FROM documents WHERE url IS NULL AND id > ${after} ORDER BY id LIMIT 200`
    return [rows, Option.fromUndefinedOr(rows.at(-1)?.id)] as const
  })
)

/** The documents are small, so they are sent in forms. A form that breaks is sent again. */
const small = { transport: "form", resend: true } as const

/** The job of the first Assembly. */
const compressing = ({ body, id }: Document) => ({
  data: id,
  params: { steps: { ":original": { robot: "/upload/handle" } } },
  files: [{ source: UploadSource.fromBytes(gzipSync(body)), filename: `${id}.json.gz` }],
  ...small
})

/** The job of the second Assembly, whose file is a result of the first. */
const storing = (
  id: number,
  file: Assembly.File
): AssemblyUpload.Job<HttpClient.HttpClient> & { readonly data: number } => ({
  data: id,
  params: {
    steps: {
      ":original": { robot: "/upload/handle" },
      stored: { robot: "/transloadit/store", use: ":original", path: "documents/${file.name}" }
    }
  },
  files: [{ source: WebSource.fromResult(file), filename: `${id}.json.gz` }],
  ...small
})

/** The first result of a Step. An earlier run may have completed the job. */
const resultOf = Effect.fnUntraced(function* (outcome: AssemblyUpload.Outcome<unknown>, step: string) {
  if (outcome._tag === "Failed") return yield* outcome.error
  if (outcome._tag === "Died") return yield* Effect.failCause(outcome.cause)
  const status = outcome._tag === "Completed" ? outcome.status : yield* Assemblies.get(outcome.assemblyId)
  return yield* Effect.fromNullishOr(Results.of(status).get(step)?.[0]).pipe(
    Effect.mapError(() => new NoResult({ step }))
  )
})

/** Stores why a row was not published. The next run tries it again. */
const failed = (id: number) => (error: { readonly message: string }) =>
  SqlClient.SqlClient.use((sql) => sql`UPDATE documents SET error = ${error.message} WHERE id = ${id}`)

/** Publishes every row that has no URL yet. */
export const publishDocuments = documents.pipe(
  Stream.map(compressing),
  AssemblyUpload.runAll({ assemblies: 16 }),
  Stream.mapEffect((outcome) =>
    resultOf(outcome, ":original").pipe(
      Effect.map((file) => [storing(outcome.job.data, file)]),
      Effect.catch((error) => Effect.as(failed(outcome.job.data)(error), []))
    )
  ),
  Stream.flattenIterable,
  AssemblyUpload.runAll({ assemblies: 16 }),
  Stream.runForEach((outcome) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { ssl_url = null } = yield* resultOf(outcome, "stored")
      yield* sql`UPDATE documents SET url = ${ssl_url}, error = NULL WHERE id = ${outcome.job.data}`
    }).pipe(Effect.catch(failed(outcome.job.data)))
  )
)
