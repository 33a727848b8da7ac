import * as Operations from "@assembly-effect/api/Templates"
import type * as Template from "@assembly-effect/schema/Template"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Option from "effect/Option"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Limits from "../../Limits.ts"
import * as Database from "../data/database.ts"
import * as Ids from "../data/ids.ts"
import * as KeywordLimit from "../data/keywordLimit.ts"
import * as TextField from "../data/textField.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as TemplateStore from "./templateStore.ts"

type Issues = Parameters<typeof Refusal.explain>[0]

const invalid = Refusal.invalid("TEMPLATE_VALIDATION_ERROR")

/**
 * An id or name that breaks a rule gets the same response as an unknown id or name. `others` makes the refusal for any
 * other issue.
 */
const invalidOfOne =
  (others: (issues: Issues) => Refusal.Refusal) =>
  (issues: Issues): Refusal.Refusal =>
    issues.some(({ path }) => path[0] === "templateIdOrName") ? TemplateStore.notFound : others(issues)

const invalidList = Refusal.invalid("TEMPLATE_LIST_ERROR")

const tooManyKeywords = invalidList([{ path: ["keywords"], message: `Expected at most ${KeywordLimit.max} keywords` }])

const refusals: Readonly<Record<TemplateStore.Problem, Refusal.Refusal>> = {
  NotFound: TemplateStore.notFound,
  NameTaken: invalid([{ path: ["name"], message: "Another Template of the Workspace has this name." }])
}

const refuse = (problem: TemplateStore.Problem | StorageFailed): Refusal.Refusal | StorageFailed =>
  typeof problem === "string" ? refusals[problem] : problem

/** The settings of a Template after a change. */
const changed = <Base extends Partial<TemplateStore.Settings>>(base: Base, request: Template.UpdateRequest) => ({
  ...base,
  ...(request.name === undefined ? {} : { name: request.name }),
  ...(request.template === undefined ? {} : { content: request.template }),
  ...(request.requireSignatureAuth === undefined
    ? {}
    : { require_signature_auth: request.requireSignatureAuth ? (1 as const) : (0 as const) }),
  ...(request.assemblyStatusExpiry === undefined ? {} : { assembly_status_expiry: request.assemblyStatusExpiry }),
  ...(request.transcodingResultExpiry === undefined
    ? {}
    : { transcoding_result_expiry: request.transcodingResultExpiry })
})

const toShown = (row: TemplateStore.Row) => ({
  id: row.id,
  name: row.name,
  content: row.content,
  require_signature_auth: row.require_signature_auth === 1,
  assembly_status_expiry: row.assembly_status_expiry,
  transcoding_result_expiry: row.transcoding_result_expiry
})

const toDate = (millis: number) => DateTime.makeUnsafe(millis)

const toItem = (row: TemplateStore.Listed): Template.Item => ({
  ...toShown(row),
  created: toDate(row.created_at),
  modified: toDate(row.modified_at),
  last_used: row.last_used === null ? null : toDate(row.last_used)
})

/** The empty list of Builtin Templates. The emulator has no Builtin Templates. */
const noBuiltin = { count: 0, items: [] }

const routes = Effect.gen(function* () {
  const { jsonDepth } = yield* Limits.Limits
  const templates = yield* TemplateStore.TemplateStore
  const newId = yield* Ids.hex

  /** The content may also be JSON text, as the service documents it. */
  const orText = <S extends Parameters<typeof TextField.orText>[0]>(params: S) =>
    TextField.orText(params, "template", jsonDepth)

  return yield* Effect.all([
    Route.signed(Operations.Get, {
      invalid: invalidOfOne(Refusal.invalidForm),
      handle: Effect.fnUntraced(function* ({ authKey, path }) {
        const row = yield* templates.find(authKey.workspace, path.templateIdOrName)
        if (Option.isNone(row)) return yield* TemplateStore.notFound
        return Route.success("TEMPLATE_FOUND", "The Template was found.", toShown(row.value))
      })
    }),
    Route.signed(
      { ...Operations.Create, params: orText(Operations.Create.params) },
      {
        invalid,
        handle: Effect.fnUntraced(function* ({ authKey, params }) {
          const id = yield* newId
          const settings = { ...changed(TemplateStore.defaults, params), name: params.name, content: params.template }
          const row = yield* Effect.mapError(templates.create(authKey.workspace, id, settings), refuse)
          return Route.success("TEMPLATE_CREATED", "The Template was created.", toShown(row))
        })
      }
    ),
    Route.signed(
      { ...Operations.Update, params: orText(Operations.Update.params) },
      {
        invalid: invalidOfOne(invalid),
        handle: Effect.fnUntraced(function* ({ authKey, params, path }) {
          const row = yield* templates
            .change(authKey.workspace, path.templateIdOrName, (before) => changed(before, params))
            .pipe(Effect.mapError(refuse))
          return Route.success("TEMPLATE_UPDATED", "The Template was updated.", toShown(row))
        })
      }
    ),
    Route.signed(Operations.Delete, {
      invalid: invalidOfOne(Refusal.invalidForm),
      handle: Effect.fnUntraced(function* ({ authKey, path }) {
        if (!(yield* templates.remove(authKey.workspace, path.templateIdOrName))) return yield* TemplateStore.notFound
        return Route.success("TEMPLATE_DELETED", "The Template was deleted.", {})
      })
    }),
    Route.signed(Operations.List, {
      invalid: invalidList,
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        const { keywords = [], page = 1, pageSize = 50 } = params
        if (keywords.length > KeywordLimit.max) return yield* tooManyKeywords
        if (params.includeBuiltin?.startsWith("exclusively-")) return noBuiltin
        const { count, rows } = yield* templates.list(authKey.workspace, {
          from: params.fromDate?.epochMilliseconds ?? 0,
          to: params.toDate?.epochMilliseconds ?? Number.MAX_SAFE_INTEGER,
          keywords,
          sort: params.sort ?? "created",
          order: params.order ?? "desc",
          limit: pageSize,
          offset: Database.offsetOf(page, pageSize)
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
