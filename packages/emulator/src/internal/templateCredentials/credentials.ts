import * as Operations from "@assembly-effect/api/TemplateCredentials"
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as Field from "@assembly-effect/schema/unstable/Field"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as SqlClient from "effect/sql/SqlClient"
import * as Ids from "../data/ids.ts"
import * as NamedRows from "../data/namedRows.ts"
import * as Statement from "../data/statement.ts"
import * as TextField from "../data/textField.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as Turns from "../http/turns.ts"
import * as Limits from "../limits.ts"
import * as CredentialTypes from "./credentialTypes.ts"

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
type Row = typeof Row.Type

/** The fields that a client can set. */
type Settings = Pick<Row, "name" | "type" | "content">

const tooMany = Refusal.refused(400, `A Workspace has at most ${max} Template Credentials.`)

/** The refusal of unknown Template Credentials. */
const notFound = Refusal.refused(404, "There are no such Template Credentials in this Workspace.")

const { all } = Statement.rows(Row)
const names = Statement.column(Schema.String).all

/** Stores the Template Credentials of all Workspaces. */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* NamedRows.make("template_credentials", Row, {
    at: (workspace, id) => sql`workspace = ${workspace} AND id = ${id}`,
    missing: notFound,
    taken: Refusal.refused(400, "name: Other Template Credentials of the Workspace have this name.")
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

type Issues = Parameters<typeof Refusal.explain>[0]

/** The maximum length of the content of Template Credentials as JSON, in characters. */
const maxContent = 16_384

const maxName = 255

const isContent = Schema.is(Schema.Record(Schema.String, Schema.Json))

/** The issues of the content of Template Credentials: the content is too long, or it breaks rules of its type. */
const contentProblems = (type: string, content: Schema.JsonObject): Issues =>
  JSON.stringify(content).length > maxContent
    ? [{ path: ["content"], message: `Expected at most ${maxContent} characters of JSON` }]
    : CredentialTypes.problems(type, content)

/** The issues of the name of Template Credentials. SQLite would change a text that is not valid Unicode. */
const nameProblems = (name: string): Issues =>
  name.length <= maxName && name.isWellFormed()
    ? []
    : [{ path: ["name"], message: `Expected at most ${maxName} characters of valid Unicode` }]

type Asked = Pick<Settings, "name" | "type"> & { readonly content: TemplateCredential.Content }

/**
 * Checks the name and the content of a request. `merge` adds to the content the stored values that a change keeps. No
 * message contains a value of the content.
 */
const checked = Effect.fnUntraced(function* (
  { content, name, type }: Asked,
  merge: (content: Schema.JsonObject) => Schema.JsonObject = (whole) => whole
) {
  const value = Redacted.value(content)
  if (!isContent(value)) {
    return yield* Refusal.refused(400, "content: Expected an object, or the JSON text of an object")
  }
  const merged = merge(value)
  yield* Refusal.check([...nameProblems(name), ...contentProblems(type, merged)])
  return { name, type, content: Redacted.make(merged, { label }) }
})

/**
 * Checks a change. Without a content in the request, the stored content stays. If the request changes the type, the new
 * content gets no values of the stored content.
 */
const checkedChange = (before: Row, request: TemplateCredential.UpdateRequest) => {
  const { content = before.content, name, type } = request
  const isNew = request.content === undefined || type !== before.type
  return checked(
    { name, type, content },
    isNew ? undefined : (next) => CredentialTypes.changed(type, Redacted.value(before.content), next)
  )
}

const toCredential = ({ created_at, modified_at, workspace, ...row }: Row) => ({
  ...row,
  stringified: Redacted.make(JSON.stringify(Redacted.value(row.content)), { label }),
  account_id: workspace,
  created: DateTime.makeUnsafe(created_at),
  modified: DateTime.makeUnsafe(modified_at),
  deleted: null
})

const told = <const What extends string>(what: What, done: string, row: Row) =>
  Route.success(`TEMPLATE_CREDENTIALS_${what}`, `The Template Credentials were ${done}.`, {
    credential: toCredential(row)
  })

/** A list operation with the params of the official client. The client of `@assembly-effect/api` sends no params. */
const List = {
  ...Operations.List,
  params: Schema.Struct({
    page: Schema.optionalKey(Field.PositiveInt),
    sort: Schema.optionalKey(Schema.Literals(["created", "id", "modified", "name", "type"])),
    order: Schema.optionalKey(Schema.Literals(["asc", "desc"]))
  })
}

const encodeCredential = Schema.encodeSync(TemplateCredential.Credential)

const routes = Effect.gen(function* () {
  const { jsonDepth } = yield* Limits.Limits
  const store = yield* make
  const newId = yield* Ids.hex

  // The content may also be JSON text.
  return yield* Effect.all([
    Route.signed(List, {
      encode: Effect.fnUntraced(function* ({ credentials: listed, ...said }) {
        return { ...said, credentials: yield* Turns.map(listed, (one) => encodeCredential(one)) }
      }),
      handle: Effect.fnUntraced(function* ({ authKey, params: { order = "desc", page = 1, sort = "created" } }) {
        // All Template Credentials are on the first page. The official client asks for pages until one is empty.
        const rows = page === 1 ? yield* store.list(authKey.workspace, { sort, order }) : []
        const credentials = rows.map(toCredential)
        return Route.success("TEMPLATE_CREDENTIALS_FOUND", "The Template Credentials were found.", { credentials })
      })
    }),
    Route.signed(Operations.Types, {
      invalid: Refusal.invalidForm,
      handle: () =>
        Effect.succeed(
          Route.success("TEMPLATE_CREDENTIALS_TYPES_FOUND", "The types of Template Credentials were found.", {
            types: CredentialTypes.types
          })
        )
    }),
    Route.signed(Operations.Get, {
      unknown: notFound,
      handle: ({ authKey, path }) =>
        Effect.map(store.find(authKey.workspace, path.credentialId), (row) => told("READ", "read", row))
    }),
    Route.signed(
      { ...Operations.Create, params: TextField.orText(Operations.Create.params, "content", jsonDepth) },
      {
        handle: Effect.fnUntraced(function* ({ authKey: { workspace }, params }) {
          const settings = yield* checked(params)
          const id = TemplateCredential.CredentialId.make(yield* newId)
          const now = yield* Clock.currentTimeMillis
          const row = { ...settings, id, workspace, created_at: now, modified_at: now }
          return told("CREATED", "created", yield* store.create(row))
        })
      }
    ),
    Route.signed(
      { ...Operations.Update, params: TextField.orText(Operations.Update.params, "content", jsonDepth) },
      {
        unknown: notFound,
        handle: Effect.fnUntraced(function* ({ authKey, params, path }) {
          const row = yield* store.change(authKey.workspace, path.credentialId, (before) =>
            Effect.map(checkedChange(before, params), (settings) => ({ ...before, ...settings }))
          )
          return told("UPDATED", "updated", row)
        })
      }
    ),
    Route.signed(Operations.Delete, {
      unknown: notFound,
      handle: ({ authKey, path }) =>
        Effect.as(
          store.remove(authKey.workspace, path.credentialId),
          Route.success("TEMPLATE_CREDENTIALS_DELETED", "The Template Credentials were deleted.", {})
        )
    })
  ])
})

/**
 * The routes under `/template_credentials`. The details of these routes are beyond the specification, which names the
 * operations but does not define them.
 */
export const layer = HttpRouter.addAll(routes)
