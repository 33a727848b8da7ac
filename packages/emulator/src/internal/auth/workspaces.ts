import { InvalidRequest } from "@assembly-effect/schema/InvalidRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as SqlClient from "effect/sql/SqlClient"
import { KeyInTwoWorkspaces } from "../../EmulatorError.ts"
import type * as Template from "../../Template.ts"
import type * as Workspace from "../../Workspace.ts"
import * as AuthKeys from "./authKeys.ts"
import * as Statement from "../data/statement.ts"
import * as Templates from "../templates/templates.ts"

/** All scopes. `read` and `write` apply to every resource, but do not grant `smart_cdn:sign`. */
const allScopes = ["read", "write", "smart_cdn:sign"]

const byDefault: Workspace.Workspace = { slug: "emulator", keys: [] }

const checkKeys = Effect.fnUntraced(function* (workspaces: ReadonlyArray<Workspace.Workspace>) {
  const authKeys = yield* AuthKeys.make
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

/**
 * Adds `credentials` and `templates` to the first Workspace. If the options contain no Auth Key of the first Workspace,
 * the result `key` is the oldest active Auth Key of this Workspace, or else a new Auth Key.
 */
const asked = Effect.fnUntraced(function* ({ credentials, templates = [], workspaces = [] }: Options) {
  const [first = byDefault, ...others] = workspaces
  const given = credentials === undefined ? first.keys : [credentials, ...first.keys]
  const { firstOf } = yield* AuthKeys.make
  const kept: Workspace.AuthKey | undefined = given[0] ?? Option.getOrUndefined(yield* firstOf(first.slug))
  const key: Workspace.AuthKey = kept ?? (yield* AuthKeys.random)
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
export const ensure = Effect.fnUntraced(function* (options: Options) {
  const { all, key, slug } = yield* asked(options)
  yield* checkKeys(all)
  const authKeys = yield* AuthKeys.make
  const sql = yield* SqlClient.SqlClient
  const templates = yield* Templates.make
  const now = yield* Clock.currentTimeMillis
  yield* Effect.gen(function* () {
    for (const { keys, slug: workspace } of all) {
      for (const { isActive = true, key: name, scopes = allScopes, secret } of keys) {
        yield* authKeys.put({ key: name, secret, workspace, scopes, isActive })
      }
    }
    for (const { slug: workspace, templates: given = [] } of all) {
      for (const { content, id, name = id } of given) {
        const times = { created_at: now, modified_at: now }
        yield* templates.put({ ...Templates.defaults, ...times, id, workspace, name, content }).pipe(
          Effect.catchTag("Refused", () => {
            const issue = { path: ["templates", id, "name"], message: `Another Template has the name ${name}` }
            return Effect.fail(new InvalidRequest({ operation: "Emulator.layer", issues: [issue] }))
          })
        )
      }
    }
  }).pipe(sql.withTransaction, Statement.stored)
  return { slug, key: key.key, secret: key.secret }
})
