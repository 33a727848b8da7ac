import * as Operations from "@assembly-effect/api/AuthKeys"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import type * as AuthKey from "@assembly-effect/schema/AuthKey"
import type { Issue } from "@assembly-effect/schema/InvalidRequest"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Schema from "effect/Schema"
import type { StorageFailed } from "../../EmulatorError.ts"
import * as AuthKeyRecords from "./authKeyRecords.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"

const isKnownScope = Schema.is(Auth.KnownScope)

/** Returns whether a text is a valid `auth_key`. A colon is invalid, because HTTP Basic ends the key at a colon. */
const isUsableKey = (text: string): boolean => /^[^:\s\p{Cc}\p{Cs}]{1,255}$/u.test(text)

const keyRule = "Expected 1 to 255 characters, without colons, white space and control characters"

const maxDescription = 1000

/** The rules of the emulator for the settings of an Auth Key. The service does not document its rules. */
const issuesOf = ({ authKey, description = "", scope }: Partial<AuthKey.CreateRequest>): ReadonlyArray<Issue> => [
  ...(scope ?? []).flatMap((text, index) =>
    isKnownScope(text) ? [] : [{ path: ["scope", index], message: "Expected a scope that GET /auth_keys/scopes lists" }]
  ),
  ...(authKey === undefined || isUsableKey(authKey) ? [] : [{ path: ["auth_key"], message: keyRule }]),
  ...(description.length <= maxDescription
    ? []
    : [{ path: ["description"], message: `Expected at most ${maxDescription} characters` }])
]

/** The refusals of an operation, which all have the error code of the operation. */
const refusals = (code: string) => {
  const invalid = Refusal.invalid(code)
  return {
    invalid,
    check: (request: Partial<AuthKey.CreateRequest>): Effect.Effect<void, Refusal.Refusal> => {
      const issues = issuesOf(request)
      return issues.length === 0 ? Effect.void : Effect.fail(invalid(issues))
    },
    refuse: <A>(work: Effect.Effect<A, AuthKeyRecords.Refused | StorageFailed>) =>
      Effect.catchTag(work, "Refused", ({ message, status }) => Effect.fail(Refusal.refuse(code, status, message)))
  }
}

const dateOf = (millis: number | null) => (millis === null ? null : DateTime.makeUnsafe(millis))

const toRecord = ({ created_at, key, last_used_at, modified_at, scopes, ...row }: AuthKeyRecords.Row) => ({
  id: row.id,
  auth_key: key,
  description: row.description,
  scope: scopes,
  signature_algo: row.signature_algo,
  is_active: row.is_active === 1,
  is_allowed_for_smartcdn: row.is_allowed_for_smartcdn === 1,
  can_show_auth_secret: row.can_show_auth_secret === 1,
  created: dateOf(created_at),
  modified: dateOf(modified_at),
  last_used: dateOf(last_used_at)
})

const routes = Effect.gen(function* () {
  const records = yield* AuthKeyRecords.make
  const creating = refusals("AUTH_KEY_NOT_CREATED")
  const updating = refusals("AUTH_KEY_NOT_UPDATED")
  const deleting = refusals("AUTH_KEY_NOT_DELETED")
  const showing = refusals("AUTH_SECRET_NOT_RETRIEVED")

  return yield* Effect.all([
    Route.signed(Operations.List, {
      invalid: Refusal.invalidParams,
      handle: ({ authKey }) =>
        Effect.map(records.list(authKey.workspace), (rows) =>
          Route.success("AUTH_KEYS_FOUND", "The Auth Keys were found.", { auth_keys: rows.map(toRecord) })
        )
    }),
    Route.signed(Operations.Scopes, {
      invalid: Refusal.invalidParams,
      handle: () =>
        Effect.succeed(
          Route.success("AUTH_KEY_SCOPES_FOUND", "The scopes were found.", { scopes: Auth.KnownScope.literals })
        )
    }),
    Route.signed(Operations.Create, {
      invalid: creating.invalid,
      handle: Effect.fnUntraced(function* ({ authKey, params }) {
        yield* creating.check(params)
        const { row, secret } = yield* creating.refuse(records.create(authKey, params))
        const auth_key = { ...toRecord(row), auth_secret: secret }
        return Route.success("AUTH_KEY_CREATED", "The Auth Key was created.", { auth_key })
      })
    }),
    Route.signed(Operations.Update, {
      invalid: updating.invalid,
      handle: Effect.fnUntraced(function* ({ authKey, params, path }) {
        yield* updating.check(params)
        const row = yield* updating.refuse(records.update(authKey, path.authKeyId, params))
        return Route.success("AUTH_KEY_UPDATED", "The Auth Key was updated.", { auth_key: toRecord(row) })
      })
    }),
    Route.signed(Operations.Delete, {
      invalid: deleting.invalid,
      handle: ({ authKey, path }) =>
        Effect.as(
          deleting.refuse(records.remove(authKey, path.authKeyId)),
          Route.success("AUTH_KEY_DELETED", "The Auth Key was deleted.", {})
        )
    }),
    Route.signed(Operations.Secret, {
      invalid: showing.invalid,
      handle: ({ authKey, path }) =>
        Effect.map(showing.refuse(records.secret(authKey, path.authKeyId)), (auth_secret) => ({ auth_secret }))
    })
  ])
})

/**
 * The routes under `/auth_keys`. The details of these routes are beyond the specification, which names the operations
 * but does not define them.
 */
export const layer = HttpRouter.addAll(routes)
