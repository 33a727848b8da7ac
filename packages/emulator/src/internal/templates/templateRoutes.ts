import * as Operations from "@assembly-effect/api/Templates"
import type * as Template from "@assembly-effect/schema/Template"
import * as Clock from "effect/Clock"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Struct from "effect/Struct"
import * as Limits from "../limits.ts"
import * as Database from "../data/database.ts"
import * as Ids from "../data/ids.ts"
import * as KeywordLimit from "../data/keywordLimit.ts"
import * as TextField from "../data/textField.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as TemplateStore from "./templateStore.ts"

type Settings = Omit<TemplateStore.Row, "created_at" | "id" | "modified_at" | "workspace">

/** The settings of a Template after a change. */
const changed = (base: Settings, request: Template.UpdateRequest): Settings => ({
  name: request.name ?? base.name,
  content: request.template ?? base.content,
  require_signature_auth: request.requireSignatureAuth ?? base.require_signature_auth,
  assembly_status_expiry: request.assemblyStatusExpiry ?? base.assembly_status_expiry,
  transcoding_result_expiry: request.transcodingResultExpiry ?? base.transcoding_result_expiry
})

const toShown = (row: TemplateStore.Row) => Struct.omit(row, ["created_at", "modified_at", "workspace"])

const toItem = ({ last_used, ...row }: TemplateStore.Listed): Template.Item => ({
  ...toShown(row),
  created: DateTime.makeUnsafe(row.created_at),
  modified: DateTime.makeUnsafe(row.modified_at),
  last_used
})

/** The empty list of Builtin Templates. The emulator has no Builtin Templates. */
const noBuiltin = { count: 0, items: [] }

const routes = Effect.gen(function* () {
  const { jsonDepth } = yield* Limits.Limits
  const templates = yield* TemplateStore.make
  const newId = yield* Ids.hex

  /** The content may also be JSON text, as the service documents it. */
  const orText = <S extends Parameters<typeof TextField.orText>[0]>(params: S) =>
    TextField.orText(params, "template", jsonDepth)

  return yield* Effect.all([
    Route.signed(Operations.Get, {
      unknown: TemplateStore.notFound,
      invalid: Refusal.invalidForm,
      handle: ({ authKey, path }) =>
        Effect.map(templates.find(authKey.workspace, path.templateIdOrName), (row) =>
          Route.success("TEMPLATE_FOUND", "The Template was found.", toShown(row))
        )
    }),
    Route.signed(
      { ...Operations.Create, params: orText(Operations.Create.params) },
      {
        handle: Effect.fnUntraced(function* ({ authKey: { workspace }, params }) {
          const now = yield* Clock.currentTimeMillis
          const row = {
            ...changed({ ...TemplateStore.defaults, name: params.name, content: params.template }, params),
            id: yield* newId,
            workspace,
            created_at: now,
            modified_at: now
          }
          return Route.success("TEMPLATE_CREATED", "The Template was created.", toShown(yield* templates.put(row)))
        })
      }
    ),
    Route.signed(
      { ...Operations.Update, params: orText(Operations.Update.params) },
      {
        code: "TEMPLATE_VALIDATION_ERROR",
        unknown: TemplateStore.notFound,
        handle: Effect.fnUntraced(function* ({ authKey, params, path }) {
          const row = yield* templates.change(authKey.workspace, path.templateIdOrName, (before) =>
            Effect.succeed({ ...before, ...changed(before, params) })
          )
          return Route.success("TEMPLATE_UPDATED", "The Template was updated.", toShown(row))
        })
      }
    ),
    Route.signed(Operations.Delete, {
      unknown: TemplateStore.notFound,
      invalid: Refusal.invalidForm,
      handle: ({ authKey, path }) =>
        Effect.as(
          templates.remove(authKey.workspace, path.templateIdOrName),
          Route.success("TEMPLATE_DELETED", "The Template was deleted.", {})
        )
    }),
    Route.signed(Operations.List, {
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        const { fromDate, keywords = [], order = "desc", page = 1, pageSize: limit = 50, sort = "created" } = params
        yield* KeywordLimit.check(keywords)
        if (params.includeBuiltin?.startsWith("exclusively-")) return noBuiltin
        const { count, rows } = yield* templates.list(authKey.workspace, {
          from: fromDate?.epochMilliseconds ?? 0,
          to: params.toDate?.epochMilliseconds ?? Number.MAX_SAFE_INTEGER,
          keywords,
          sort,
          order,
          limit,
          offset: Database.offsetOf(page, limit)
        })
        return { count, items: rows.map(toItem) }
      })
    })
  ])
})

/**
 * The routes under `/templates`. The details of these routes are beyond the specification, which names the operations
 * but does not define them.
 */
export const layer = HttpRouter.addAll(routes)
