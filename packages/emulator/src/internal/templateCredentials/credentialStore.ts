import * as Context from "effect/Context"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"
import * as Turns from "../http/turns.ts"

/**
 * The maximum number of Template Credentials in a Workspace. The number is limited, because a list has only one page.
 */
export const max = 500

/** Template Credentials in the database. Times are milliseconds since the epoch. */
const Row = Schema.Struct({
  id: Schema.String,
  workspace: Schema.String,
  name: Schema.String,
  type: Schema.String,
  content: Schema.RedactedFromValue(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Json)), {
    label: "content of credentials"
  }),
  created_at: Schema.Int,
  modified_at: Schema.Int
})
export type Row = typeof Row.Type

/** The fields that a client can set. */
export type Settings = Pick<Row, "name" | "type" | "content">

/** A list request. */
interface Listing {
  readonly sort: "created" | "id" | "modified" | "name" | "type"
  readonly order: "asc" | "desc"
}

/** Why Template Credentials cannot be stored. */
export type Problem = "NotFound" | "NameTaken" | "TooMany"

const sortKeys: Readonly<Record<Listing["sort"], string>> = {
  created: "created_at",
  id: "id",
  modified: "modified_at",
  name: "name",
  type: "type"
}

const all = Statement.all(Row)
const first = Statement.first(Row)
const one = Statement.one(Row)
const names = Statement.all(Schema.Struct({ name: Schema.String }))
const counted = Statement.one(Schema.Struct({ total: Schema.Int, same: Schema.Int }))

const toText = (content: Row["content"]): string => JSON.stringify(Redacted.value(content))

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const turns = yield* Turns.Turns

  const find = (workspace: string, id: string) =>
    first(sql`SELECT * FROM template_credentials WHERE workspace = ${workspace} AND id = ${id}`)

  /** How many Template Credentials the Workspace has, and how many other Template Credentials have this name. */
  const count = (workspace: string, id: string, name: string) =>
    counted(sql`
      SELECT count(*) AS total, count(*) FILTER (WHERE name = ${name} AND id <> ${id}) AS same
      FROM template_credentials WHERE workspace = ${workspace}`)

  return {
    list: (workspace: string, { order, sort }: Listing) => {
      const direction = sql.literal(order === "asc" ? "ASC" : "DESC")
      return turns.share(
        all(sql`
          SELECT * FROM template_credentials WHERE workspace = ${workspace}
          ORDER BY ${sql.literal(sortKeys[sort])} ${direction}, rowid ${direction}`)
      )
    },
    find,
    create: (workspace: string, id: string, { content, name, type }: Settings) =>
      Effect.gen(function* () {
        const { same, total } = yield* count(workspace, id, name)
        if (same > 0) return yield* Effect.fail("NameTaken" as const)
        if (total >= max) return yield* Effect.fail("TooMany" as const)
        const now = (yield* DateTime.now).epochMilliseconds
        const row = { id, workspace, name, type, content: toText(content), created_at: now, modified_at: now }
        return yield* one(sql`INSERT INTO template_credentials ${sql.insert(row)} RETURNING *`)
      }).pipe(sql.withTransaction, Statement.stored),
    /** Changes Template Credentials in one transaction. If `next` fails, nothing changes. */
    change: <E>(workspace: string, id: string, next: (row: Row) => Effect.Effect<Settings, E>) =>
      Effect.gen(function* () {
        const row = yield* find(workspace, id)
        if (Option.isNone(row)) return yield* Effect.fail("NotFound" as const)
        const { content, name, type } = yield* next(row.value)
        if ((yield* count(workspace, id, name)).same > 0) return yield* Effect.fail("NameTaken" as const)
        const modified_at = (yield* DateTime.now).epochMilliseconds
        const values = { name, type, content: toText(content), modified_at }
        return yield* one(sql`
          UPDATE template_credentials SET ${sql.update(values)}
          WHERE workspace = ${workspace} AND id = ${id} RETURNING *`)
      }).pipe(sql.withTransaction, Statement.stored),
    /** Deletes Template Credentials. Returns false if no Template Credentials have this id. */
    remove: (workspace: string, id: string) =>
      Statement.isChange(sql`DELETE FROM template_credentials WHERE workspace = ${workspace} AND id = ${id}`),
    /** Returns the names among `names` that exist in the Workspace. */
    existing: (workspace: string, wanted: ReadonlyArray<string>) =>
      names(sql`
        SELECT name FROM template_credentials WHERE workspace = ${workspace}
        AND name IN (SELECT value FROM json_each(${JSON.stringify(wanted)}))`).pipe(
        Effect.map((rows) => new Set(rows.map(({ name }) => name)))
      )
  }
})

/** Stores the Template Credentials of all Workspaces. */
export class CredentialStore extends Context.Service<CredentialStore>()("@assembly-effect/emulator/CredentialStore", {
  make
}) {}

export const layer = Layer.effect(CredentialStore, CredentialStore.make)
