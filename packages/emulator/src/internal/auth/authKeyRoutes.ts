import * as Operations from "@assembly-effect/api/AuthKeys"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import type * as Record from "@assembly-effect/schema/AuthKey"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as AuthKeys from "./authKeys.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"

const isKnownScope = Schema.is(Auth.KnownScope)

/** Returns whether a text is a valid `auth_key`. A colon is invalid, because HTTP Basic ends the key at a colon. */
const isUsableKey = (text: string): boolean => /^[^:\s\p{Cc}\p{Cs}]{1,255}$/u.test(text)

const keyRule = "Expected 1 to 255 characters, without colons, white space and control characters"

const maxDescription = 1000

/** The rules of the emulator for the settings of an Auth Key. The service does not document its rules. */
const issuesOf = ({ authKey, description = "", scope }: Partial<Record.CreateRequest>): ReadonlyArray<Issue> => [
  ...(scope ?? []).flatMap((text, index) =>
    isKnownScope(text) ? [] : [{ path: ["scope", index], message: "Expected a scope that GET /auth_keys/scopes lists" }]
  ),
  ...(authKey === undefined || isUsableKey(authKey) ? [] : [{ path: ["auth_key"], message: keyRule }]),
  ...(description.length <= maxDescription
    ? []
    : [{ path: ["description"], message: `Expected at most ${maxDescription} characters` }])
]

/** An Auth Key without its secret. */
const toRecord = (row: AuthKeys.AuthKey) => ({
  ...Struct.omit(row, ["secret", "workspace"]),
  auth_key: row.key,
  scope: row.scopes,
  created: row.created_at,
  modified: row.modified_at,
  last_used: row.last_used_at
})

const routes = Effect.gen(function* () {
  const authKeys = yield* AuthKeys.make

  return yield* Effect.all([
    Route.signed(Operations.List, {
      handle: ({ authKey }) =>
        Effect.map(authKeys.list(authKey.workspace), (rows) =>
          Route.success("AUTH_KEYS_FOUND", "The Auth Keys were found.", { auth_keys: rows.map(toRecord) })
        )
    }),
    Route.signed(Operations.Scopes, {
      handle: () =>
        Effect.succeed(
          Route.success("AUTH_KEY_SCOPES_FOUND", "The scopes were found.", { scopes: Auth.KnownScope.literals })
        )
    }),
    Route.signed(Operations.Create, {
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        yield* Refusal.check(issuesOf(params))
        const row = yield* authKeys.create(authKey, params)
        const auth_key = { ...toRecord(row), auth_secret: row.secret }
        return Route.success("AUTH_KEY_CREATED", "The Auth Key was created.", { auth_key })
      })
    }),
    Route.signed(Operations.Update, {
      handle: Effect.fnUntraced(function* ({ authKey, params, path }) {
        yield* Refusal.check(issuesOf(params))
        const auth_key = toRecord(yield* authKeys.update(authKey, path.authKeyId, params))
        return Route.success("AUTH_KEY_UPDATED", "The Auth Key was updated.", { auth_key })
      })
    }),
    Route.signed(Operations.Delete, {
      handle: ({ authKey, path }) =>
        Effect.as(
          authKeys.remove(authKey, path.authKeyId),
          Route.success("AUTH_KEY_DELETED", "The Auth Key was deleted.", {})
        )
    }),
    Route.signed(Operations.Secret, {
      handle: ({ authKey, path }) =>
        Effect.map(authKeys.secret(authKey, path.authKeyId), (auth_secret) => ({ auth_secret }))
    })
  ])
})

/**
 * The routes under `/auth_keys`. The details of these routes are beyond the specification, which names the operations
 * but does not define them.
 */
export const layer = HttpRouter.addAll(routes)
