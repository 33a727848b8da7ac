import * as Json from "@assembly-effect/schema/Json"
import * as Input from "@assembly-effect/api/unstable/Input"
import * as Operation from "@assembly-effect/api/Operation"
import * as Scalar from "@assembly-effect/schema/Scalar"
import * as SecureRandom from "effect/crypto/SecureRandom"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Limits from "../../Limits.ts"
import * as Template from "../../Template.ts"
import * as Database from "../data/database.ts"
import * as Ids from "../data/ids.ts"
import * as KeywordLimit from "../data/keywordLimit.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as ServiceDate from "../data/serviceDate.ts"
import * as TemplateStore from "./templateStore.ts"

const settings = {
  name: Schema.NonEmptyString,
  require_signature_auth: Schema.Literals([0, 1]),
  assembly_status_expiry: Schema.Literals(["1day", "7days", "30days", "90days", "NoSave"]),
  transcoding_result_expiry: Schema.Literals(["1day", "NoSave"])
}

const optional = {
  require_signature_auth: Schema.optionalKey(settings.require_signature_auth),
  assembly_status_expiry: Schema.optionalKey(settings.assembly_status_expiry),
  transcoding_result_expiry: Schema.optionalKey(settings.transcoding_result_expiry)
}

/** The schema for the content of a Template: an object or JSON text. A text that is nested too deeply is not parsed. */
const contentOf = ({ jsonDepth }: Limits.Values) => {
  const shallow = Schema.String.check(
    Schema.makeFilter((text) => Json.isWithin(text, jsonDepth), { expected: `at most ${jsonDepth} levels` })
  )
  return Schema.Union([Template.Content, shallow.pipe(Schema.decodeTo(Schema.fromJsonString(Template.Content)))])
}

const shown = <const Ok extends string>(ok: Ok) =>
  Schema.Struct({
    ok: Schema.Literal(ok),
    message: Schema.String,
    id: Schema.String,
    name: Schema.String,
    content: Template.Content,
    require_signature_auth: settings.require_signature_auth,
    assembly_status_expiry: Schema.NullOr(Schema.String),
    transcoding_result_expiry: Schema.NullOr(Schema.String)
  })

const one = {
  auth: "signed",
  path: "/templates/:idOrName",
  variables: { idOrName: Schema.String },
  carrier: "multipart",
  nonceIn: "params",
  fields: Input.nothing,
  answers: "result",
  errors: {},
  retry: []
} as const

const Get = Operation.make({
  ...one,
  name: "Templates.get",
  method: "GET",
  carrier: "query",
  scope: "templates:read",
  params: Input.nothing,
  success: shown("TEMPLATE_FOUND"),
  retry: "safe"
})

const createWithin = (limits: Limits.Values) =>
  Operation.make({
    ...one,
    name: "Templates.create",
    method: "POST",
    path: "/templates",
    variables: {},
    scope: "templates:write",
    params: Schema.Struct({ ...optional, name: settings.name, template: contentOf(limits) }),
    success: shown("TEMPLATE_CREATED")
  })

const updateWithin = (limits: Limits.Values) =>
  Operation.make({
    ...one,
    name: "Templates.update",
    method: "PUT",
    scope: "templates:write",
    params: Schema.Struct({
      ...optional,
      name: Schema.optionalKey(settings.name),
      template: Schema.optionalKey(contentOf(limits))
    }),
    success: shown("TEMPLATE_UPDATED")
  })

const Delete = Operation.make({
  ...one,
  name: "Templates.delete",
  method: "DELETE",
  scope: "templates:write",
  params: Input.nothing,
  success: Schema.Struct({ ok: Schema.Literal("TEMPLATE_DELETED"), message: Schema.String })
})

const List = Operation.make({
  ...one,
  name: "Templates.list",
  method: "GET",
  path: "/templates",
  variables: {},
  carrier: "query",
  scope: "templates:read",
  params: Schema.Struct({
    page: Schema.optionalKey(Schema.Int),
    pagesize: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5000 }))),
    sort: Schema.optionalKey(Schema.Literals(["created", "id", "last_used", "modified", "name"])),
    order: Schema.optionalKey(Schema.Literals(["asc", "desc"])),
    fromdate: Schema.optionalKey(Scalar.FromDate),
    todate: Schema.optionalKey(Scalar.ToDate),
    keywords: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(KeywordLimit.max))),
    // The emulator has no built-in Templates, so `include_builtin` has no effect.
    include_builtin: Schema.optionalKey(
      Schema.Literals(["all", "exclusively-all", "exclusively-latest", "latest", "none"])
    )
  }),
  success: Schema.Struct({ count: Schema.Int, items: Schema.Array(Schema.Record(Schema.String, Schema.Json)) }),
  retry: "safe"
})

const invalid = (issues: Parameters<typeof Refusal.explain>[0]) =>
  new Refusal.Refusal({ code: "TEMPLATE_VALIDATION_ERROR", status: 400, message: Refusal.explain(issues) })

const nameTaken = invalid([{ path: ["name"], message: "Another Template of the Workspace has this name." }])

const toShown = ({ created_at: _created, modified_at: _modified, workspace: _workspace, ...row }: TemplateStore.Row) =>
  row

const toItem = (row: TemplateStore.Row) => ({
  ...toShown(row),
  created: ServiceDate.format(row.created_at),
  modified: ServiceDate.format(row.modified_at)
})

const routes = Effect.gen(function* () {
  const limits = yield* Limits.Limits
  const templates = yield* TemplateStore.TemplateStore
  const random = yield* SecureRandom.SecureRandom

  const find = (workspace: string, idOrName: string) =>
    Effect.flatMap(
      templates.find(workspace, idOrName),
      Option.match({ onNone: () => Effect.fail(TemplateStore.notFound), onSome: Effect.succeed })
    )

  const put = Effect.fnUntraced(function* (workspace: string, id: string, next: TemplateStore.Settings) {
    if (!(yield* templates.put(workspace, id, next))) return yield* nameTaken
    return toShown(yield* find(workspace, id))
  })

  return yield* Effect.all([
    Route.signed(Get, {
      invalid,
      handle: Effect.fnUntraced(function* ({ authKey, path }) {
        const row = yield* find(authKey.workspace, path.idOrName)
        return { ...toShown(row), ok: "TEMPLATE_FOUND", message: "The Template was found." } as const
      })
    }),
    Route.signed(createWithin(limits), {
      invalid,
      handle: Effect.fnUntraced(function* ({ authKey, params: { template: content, ...params } }) {
        const id = yield* Effect.provideService(Ids.hex, SecureRandom.SecureRandom, random)
        const made = yield* put(authKey.workspace, id, { ...TemplateStore.defaults, ...params, content })
        return { ...made, ok: "TEMPLATE_CREATED", message: "The Template was created." } as const
      })
    }),
    Route.signed(updateWithin(limits), {
      invalid,
      handle: Effect.fnUntraced(function* ({ authKey, params: { template, ...params }, path }) {
        const row = yield* find(authKey.workspace, path.idOrName)
        const made = yield* put(authKey.workspace, row.id, { ...row, ...params, content: template ?? row.content })
        return { ...made, ok: "TEMPLATE_UPDATED", message: "The Template was updated." } as const
      })
    }),
    Route.signed(Delete, {
      invalid,
      handle: Effect.fnUntraced(function* ({ authKey, path }) {
        const { id } = yield* find(authKey.workspace, path.idOrName)
        yield* templates.remove(authKey.workspace, id)
        return { ok: "TEMPLATE_DELETED", message: "The Template was deleted." } as const
      })
    }),
    Route.signed(List, {
      invalid: (issues) =>
        new Refusal.Refusal({ code: "TEMPLATE_LIST_ERROR", status: 400, message: Refusal.explain(issues) }),
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        const { fromdate, keywords = [], order = "desc", page = 1, pagesize = 50, sort = "created", todate } = params
        const { count, rows } = yield* templates.list(authKey.workspace, {
          from: fromdate?.epochMilliseconds ?? 0,
          to: todate?.epochMilliseconds ?? Number.MAX_SAFE_INTEGER,
          keywords,
          sort,
          order,
          limit: pagesize,
          offset: Database.offsetOf(page, pagesize)
        })
        return { count, items: rows.map(toItem) }
      })
    })
  ])
})

/** The routes under `/templates`. They are beyond the specification, which only names the operations. */
export const layer = HttpRouter.addAll(routes)
