import * as Operations from "@assembly-effect/api/TemplateCredentials"
import * as Scalar from "@assembly-effect/schema/unstable/Scalar"
import * as TemplateCredential from "@assembly-effect/schema/TemplateCredential"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as Limits from "../../Limits.ts"
import * as Ids from "../data/ids.ts"
import * as TextField from "../data/textField.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as Slices from "../http/slices.ts"
import * as CredentialStore from "./credentialStore.ts"
import * as CredentialTypes from "./credentialTypes.ts"

type Issues = Parameters<typeof Refusal.explain>[0]

const refusal = (code: string, message: string, status = 400) => Refusal.refuse(code, status, message)

/** Makes the refusal of invalid input. */
const unknown = "There are no such Template Credentials in this Workspace."

/** Like {@link invalid}. An id that breaks a rule gets the same response as an unknown id. */
const invalidOfOne = (code: string) => (issues: Issues) =>
  issues.some(({ path }) => path[0] === "credentialId") ? refusal(code, unknown, 404) : Refusal.invalid(code)(issues)

const refuse =
  (code: string) =>
  <E extends Refusal.Refusal | StorageFailed>(problem: CredentialStore.Problem | E): Refusal.Refusal | E => {
    switch (problem) {
      case "NotFound":
        return refusal(code, unknown, 404)
      case "NameTaken":
        return refusal(code, "name: Other Template Credentials of the Workspace have this name.")
      case "TooMany":
        return refusal(code, `A Workspace has at most ${CredentialStore.max} Template Credentials.`)
      default:
        return problem
    }
  }

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

type Asked = Pick<CredentialStore.Settings, "name" | "type"> & { readonly content: TemplateCredential.Content }

/**
 * Checks the name and the content of a request. `merge` adds to the content the stored values that a change keeps. No
 * message contains a value of the content.
 */
const checked = (
  code: string,
  { content, name, type }: Asked,
  merge: (content: Schema.JsonObject) => Schema.JsonObject = (whole) => whole
): Effect.Effect<CredentialStore.Settings, Refusal.Refusal> => {
  const value = Redacted.value(content)
  if (!isContent(value)) return Effect.fail(refusal(code, "content: Expected an object, or the JSON text of an object"))
  const merged = merge(value)
  const issues = [...nameProblems(name), ...contentProblems(type, merged)]
  return issues.length > 0
    ? Effect.fail(Refusal.invalid(code)(issues))
    : Effect.succeed({ name, type, content: Redacted.make(merged, { label: "content of credentials" }) })
}

/**
 * Checks a change. Without a content in the request, the stored content stays. If the request changes the type, the new
 * content gets no values of the stored content.
 */
const checkedChange = (before: CredentialStore.Row, request: TemplateCredential.UpdateRequest) => {
  const { content = before.content, name, type } = request
  const isNew = request.content === undefined || type !== before.type
  return checked(
    "TEMPLATE_CREDENTIALS_NOT_UPDATED",
    { name, type, content },
    isNew ? undefined : (next) => CredentialTypes.changed(type, Redacted.value(before.content), next)
  )
}

const toCredential = (row: CredentialStore.Row): TemplateCredential.Credential => ({
  id: TemplateCredential.CredentialId.make(row.id),
  name: row.name,
  type: row.type,
  content: row.content,
  stringified: Redacted.make(JSON.stringify(Redacted.value(row.content)), { label: "content of credentials" }),
  account_id: row.workspace,
  created: DateTime.makeUnsafe(row.created_at),
  modified: DateTime.makeUnsafe(row.modified_at),
  deleted: null
})

const told = <const What extends string>(what: What, done: string, row: CredentialStore.Row) =>
  Route.success(`TEMPLATE_CREDENTIALS_${what}`, `The Template Credentials were ${done}.`, {
    credential: toCredential(row)
  })

/** A list operation with the params of the official client. The client of `@assembly-effect/api` sends no params. */
const List = {
  ...Operations.List,
  params: Schema.Struct({
    page: Schema.optionalKey(Scalar.PositiveInt),
    sort: Schema.optionalKey(Schema.Literals(["created", "id", "modified", "name", "type"])),
    order: Schema.optionalKey(Schema.Literals(["asc", "desc"]))
  })
}

const encodeCredential = Schema.encodeSync(TemplateCredential.Credential)

const routes = Effect.gen(function* () {
  const { jsonDepth } = yield* Limits.Limits
  const store = yield* CredentialStore.CredentialStore
  const newId = yield* Ids.hex

  /** The content may also be JSON text. */
  const orText = <S extends Parameters<typeof TextField.orText>[0]>(params: S) =>
    TextField.orText(params, "content", jsonDepth)

  return yield* Effect.all([
    Route.signed(List, {
      invalid: Refusal.invalid("TEMPLATE_CREDENTIALS_NOT_FOUND"),
      encode: Effect.fnUntraced(function* ({ credentials: all, ...said }, turns) {
        return { ...said, credentials: yield* Slices.map(turns, all, (one) => encodeCredential(one)) }
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
      invalid: invalidOfOne("TEMPLATE_CREDENTIALS_NOT_READ"),
      handle: Effect.fnUntraced(function* ({ authKey, path }) {
        const row = yield* store.find(authKey.workspace, path.credentialId)
        if (Option.isNone(row)) return yield* refuse("TEMPLATE_CREDENTIALS_NOT_READ")("NotFound")
        return told("READ", "read", row.value)
      })
    }),
    Route.signed(
      { ...Operations.Create, params: orText(Operations.Create.params) },
      {
        invalid: Refusal.invalid("TEMPLATE_CREDENTIALS_NOT_CREATED"),
        handle: Effect.fnUntraced(
          function* ({ authKey, params }) {
            const settings = yield* checked("TEMPLATE_CREDENTIALS_NOT_CREATED", params)
            const id = yield* newId
            return told("CREATED", "created", yield* store.create(authKey.workspace, id, settings))
          },
          Effect.mapError(refuse("TEMPLATE_CREDENTIALS_NOT_CREATED"))
        )
      }
    ),
    Route.signed(
      { ...Operations.Update, params: orText(Operations.Update.params) },
      {
        invalid: invalidOfOne("TEMPLATE_CREDENTIALS_NOT_UPDATED"),
        handle: Effect.fnUntraced(
          function* ({ authKey, params, path }) {
            const row = yield* store.change(authKey.workspace, path.credentialId, (before) =>
              checkedChange(before, params)
            )
            return told("UPDATED", "updated", row)
          },
          Effect.mapError(refuse("TEMPLATE_CREDENTIALS_NOT_UPDATED"))
        )
      }
    ),
    Route.signed(Operations.Delete, {
      invalid: invalidOfOne("TEMPLATE_CREDENTIALS_NOT_DELETED"),
      handle: Effect.fnUntraced(function* ({ authKey, path }) {
        if (!(yield* store.remove(authKey.workspace, path.credentialId))) {
          return yield* refuse("TEMPLATE_CREDENTIALS_NOT_DELETED")("NotFound")
        }
        return Route.success("TEMPLATE_CREDENTIALS_DELETED", "The Template Credentials were deleted.", {})
      })
    })
  ])
})

/**
 * The routes under `/template_credentials`. The details of these routes are beyond the specification, which names the
 * operations but does not define them.
 */
export const layer = HttpRouter.addAll(routes)
