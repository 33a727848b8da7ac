import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SqlClient from "effect/sql/SqlClient"
import { InvalidTemplate, KeyInTwoWorkspaces, type StorageFailed } from "../../EmulatorError.ts"
import * as Template from "../../Template.ts"
import type * as Workspace from "../../Workspace.ts"
import * as AuthKeys from "./authKeys.ts"
import * as Statement from "../data/statement.ts"
import * as TemplateStore from "../templates/templateStore.ts"

/** All scopes. `read` and `write` apply to every resource, but do not grant `smart_cdn:sign`. */
const allScopes = ["read", "write", "smart_cdn:sign"]

const byDefault: Workspace.Workspace = { slug: "emulator", keys: [] }

/** The first given Auth Key, else the oldest active Auth Key of the Workspace, else a new Auth Key. */
const firstKey = Effect.fnUntraced(function* ({
  keys,
  slug
}: Workspace.Workspace): Effect.fn.Return<Workspace.AuthKey, StorageFailed, AuthKeys.AuthKeys> {
  const [asked] = keys
  if (asked !== undefined) return asked
  const existing = yield* AuthKeys.AuthKeys.use((authKeys) => authKeys.firstOf(slug))
  return Option.isSome(existing) ? existing.value : yield* AuthKeys.random
})

const checkKeys = Effect.fnUntraced(function* (workspaces: ReadonlyArray<Workspace.Workspace>) {
  const authKeys = yield* AuthKeys.AuthKeys
  const owners = new Map<string, string>()
  for (const { keys, slug } of workspaces) {
    for (const { key } of keys) {
      const kept = yield* authKeys.ownerOf(key)
      const owner = owners.get(key) ?? Option.getOrElse(kept, () => slug)
      if (owner !== slug) return yield* new KeyInTwoWorkspaces({ key, workspaces: [owner, slug] })
      owners.set(key, slug)
    }
  }
})

const decodeTemplate = Schema.decodeUnknownEffect(Template.Template)

/** A Template to store. */
interface Given {
  readonly workspace: string
  readonly id: string
  readonly settings: TemplateStore.Settings
}

const readTemplate = (workspace: string, template: Template.Template): Effect.Effect<Given, InvalidTemplate> =>
  decodeTemplate(template).pipe(
    Effect.map(({ content, id, name = id }) => ({
      workspace,
      id,
      settings: { ...TemplateStore.defaults, name, content }
    })),
    Effect.mapError(({ message }) => new InvalidTemplate({ id: template.id, description: message }))
  )

/**
 * Adds `credentials` and `templates` to the first Workspace. If the options contain no Auth Key of the first Workspace,
 * the result `key` is the oldest active Auth Key of this Workspace, or else a new Auth Key.
 */
const asked = Effect.fnUntraced(function* ({ credentials, templates = [], workspaces = [] }: Options) {
  const [first = byDefault, ...others] = workspaces
  const given = credentials === undefined ? first.keys : [credentials, ...first.keys]
  const key = yield* firstKey({ ...first, keys: given })
  // If an Auth Key of the Workspace has the same key as `credentials`, `credentials` replaces it.
  const rest = given.filter((other) => other.key !== key.key)
  const whole = { ...first, keys: [key, ...rest], templates: [...templates, ...(first.templates ?? [])] }
  return { key, slug: first.slug, all: [whole, ...others] }
})

/** The options of an emulator that describe its Workspaces. */
interface Options {
  readonly credentials?: Workspace.AuthKey | undefined
  readonly templates?: ReadonlyArray<Template.Template> | undefined
  readonly workspaces?: ReadonlyArray<Workspace.Workspace> | undefined
}

/**
 * Stores the given Auth Keys and Templates in one transaction. Returns the slug and the first Auth Key of the first
 * Workspace. After a failure, no given Auth Key and no given Template is stored. The migrations of the database and the
 * count of starts, which `seed` uses, are not undone.
 */
export const ensure: (
  options: Options
) => Effect.Effect<
  { readonly slug: string; readonly key: string; readonly secret: Redacted.Redacted },
  KeyInTwoWorkspaces | InvalidTemplate | StorageFailed,
  AuthKeys.AuthKeys | SqlClient.SqlClient | TemplateStore.TemplateStore
> = Effect.fnUntraced(function* (options) {
  const { all, key, slug } = yield* asked(options)
  yield* checkKeys(all)
  const given = yield* Effect.forEach(
    all.flatMap(({ slug: workspace, templates = [] }) => templates.map((template) => ({ template, workspace }))),
    ({ template, workspace }) => readTemplate(workspace, template)
  )
  const authKeys = yield* AuthKeys.AuthKeys
  const sql = yield* SqlClient.SqlClient
  const templates = yield* TemplateStore.TemplateStore
  yield* Effect.gen(function* () {
    for (const { keys, slug: workspace } of all) {
      for (const { isActive = true, key: name, scopes = allScopes, secret } of keys) {
        yield* authKeys.put({ key: name, secret, workspace, scopes, isActive })
      }
    }
    for (const { id, settings, workspace } of given) {
      if (yield* templates.put(workspace, id, settings)) continue
      return yield* new InvalidTemplate({ id, description: `another Template has the name ${settings.name}` })
    }
  }).pipe(sql.withTransaction, Statement.stored)
  return { slug, key: key.key, secret: key.secret }
})
