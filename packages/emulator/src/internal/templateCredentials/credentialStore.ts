import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as NamedRows from "../data/namedRows.ts"
import * as Statement from "../data/statement.ts"
import { Refused } from "../http/refusal.ts"
import * as Turns from "../http/turns.ts"

/**
 * The maximum number of Template Credentials in a Workspace. The number is limited, because a list has only one page.
 */
export const max = 500

/** The label of a content that is redacted. */
export const label = "content of credentials"

/** Template Credentials in the database. */
const Row = Schema.Struct({
  ...NamedRows.fields,
  id: TemplateCredential.CredentialId,
  type: Schema.String,
  content: Schema.RedactedFromValue(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)), { label })
})
export type Row = typeof Row.Type

/** The fields that a client can set. */
export type Settings = Pick<Row, "name" | "type" | "content">

const tooMany = new Refused({ status: 400, message: `A Workspace has at most ${max} Template Credentials.` })

/** The refusal of unknown Template Credentials. */
export const notFound = new Refused({
  status: 404,
  message: "There are no such Template Credentials in this Workspace."
})

const { all } = Statement.rows(Row)
const names = Statement.column(Schema.String).all

/** Stores the Template Credentials of all Workspaces. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* NamedRows.make("template_credentials", Row, {
    at: (workspace, id) => sql`workspace = ${workspace} AND id = ${id}`,
    missing: notFound,
    taken: new Refused({ status: 400, message: "name: Other Template Credentials of the Workspace have this name." })
  })

  return {
    ...rows,
    list: (workspace: string, order: NamedRows.Order) =>
      Turns.share(
        all(sql`
          SELECT * FROM template_credentials WHERE workspace = ${workspace} ${NamedRows.orderBy(sql, order)}`)
      ),
    create: Effect.fnUntraced(
      function* (row: Row) {
        const created = yield* rows.put(row)
        const count = yield* Statement.count(sql`
          SELECT count(*) FROM template_credentials WHERE workspace = ${row.workspace}`)
        return count > max ? yield* tooMany : created
      },
      sql.withTransaction,
      Statement.stored
    ),
    /** Returns the names among `names` that exist in the Workspace. */
    existing: (workspace: string, wanted: ReadonlyArray<string>) =>
      Effect.map(
        names(sql`
          SELECT name FROM template_credentials WHERE workspace = ${workspace}
          AND name IN (SELECT value FROM json_each(${JSON.stringify(wanted)}))`),
        (found) => new Set(found)
      )
  }
})
export type Store = Effect.Success<typeof make>
