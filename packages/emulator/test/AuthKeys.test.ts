/** Tests the operations of Auth Keys over HTTP, with the client and with raw requests. */
import { Assemblies } from "@assembly-effect/api"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import { Effect, Redacted } from "effect"
import {
  accepted,
  as,
  ask,
  call,
  callWithToken,
  createKey,
  given,
  list,
  listWithToken,
  recordOf,
  refused,
  tokenOf
} from "./keys.ts"
import { layer as layerEmulator } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const admin = given("admin")
const manager = given("manager", ["auth_keys:read", "auth_keys:write", "assemblies:read"])
const stranger = given("stranger")
const workspaces = [
  { slug: "north", keys: [admin, manager] },
  { slug: "south", keys: [stranger] }
]

const date = /^\d{4}\/\d{2}\/\d{2} \d{2}:\d{2}:\d{2} GMT$/

layer(layerEmulator({ workspaces }))("An Auth Key", (it) => {
  it.effect("that is created authenticates at once, with its scopes only", function* () {
    const { id, pair, record } = yield* createKey(admin, { scope: ["assemblies:read"], description: "dashboard" })
    assert.deepInclude(record, {
      description: "dashboard",
      scope: ["assemblies:read"],
      signature_algo: null,
      is_active: true,
      is_allowed_for_smartcdn: false,
      can_show_auth_secret: false,
      modified: null,
      last_used: null
    })
    assert.notStrictEqual<string>(id, pair.key)
    accepted(yield* list(pair))
    const token = yield* tokenOf(pair)
    accepted(yield* listWithToken(token))
    const error = yield* Effect.flip(as(pair)(Assemblies.create({})))
    assert.deepInclude(error, { _tag: "AuthenticationFailed", code: "INSUFFICIENT_AUTH_SCOPE" })
    refused(yield* ask(pair, "assemblies:write"), 403, "TOKEN_INVALID_SCOPE")
  })
  it.effect("is listed with those of its Workspace, also those that were given, and never with a secret", function* () {
    const { id } = yield* createKey(admin, { scope: ["read"], authKey: "listed" })
    const { auth_keys, ok } = accepted(yield* call("GET", "/auth_keys", admin))
    assert.strictEqual(ok, "AUTH_KEYS_FOUND")
    const records = auth_keys as ReadonlyArray<Readonly<Record<string, unknown>>>
    assert.deepInclude(records[0], { auth_key: "admin" })
    assert.deepInclude(records[1], { auth_key: "manager", scope: manager.scopes })
    assert.deepInclude(records.at(-1), { id, auth_key: "listed", scope: ["read"] })
    for (const record of records) {
      assert.notProperty(record, "auth_secret")
      assert.match(String(record["created"]), date)
    }
    const [own, ...others] = (yield* as(stranger)(AuthKeys.list)).auth_keys
    assert.deepStrictEqual([own?.auth_key, others], ["stranger", []])
  })

  it.effect("may have the scopes that the service knows", function* () {
    const { scopes } = yield* as(admin)(AuthKeys.scopes)
    assert.deepStrictEqual(scopes, Auth.KnownScope.literals)
    const { record } = yield* createKey(admin, { scope: [...Auth.KnownScope.literals] })
    assert.deepStrictEqual(record.scope, scopes)
  })

  it.effect("that is changed keeps what the request does not name, and is changed at once", function* () {
    const { id, pair } = yield* createKey(admin, {
      scope: ["assemblies:read"],
      description: "first",
      signatureAlgo: "sha256"
    })
    const { auth_key: same } = yield* as(admin)(AuthKeys.update(id, {}))
    const off = { is_allowed_for_smartcdn: false, can_show_auth_secret: false }
    assert.deepInclude(same, { description: "first", scope: ["assemblies:read"], signature_algo: "sha256", ...off })
    assert.notStrictEqual(same?.modified, null)
    const on = { canShowAuthSecret: true, isAllowedForSmartCdn: true }
    const change = { scope: ["dam:read", "dam:read"], description: "", signatureAlgo: "sha1", ...on } as const
    const { auth_key: changed } = yield* as(admin)(AuthKeys.update(id, change))
    assert.deepInclude(changed, { description: "", scope: ["dam:read"], signature_algo: "sha1" })
    assert.deepInclude(changed, { is_allowed_for_smartcdn: true, can_show_auth_secret: true })
    assert.notProperty(changed, "auth_secret")
    refused(yield* list(pair, "sha1"), 400, "INSUFFICIENT_AUTH_SCOPE")
    const back = AuthKeys.update(id, { canShowAuthSecret: false, isAllowedForSmartCdn: false })
    assert.deepInclude((yield* as(admin)(back)).auth_key, { ...off, description: "" })
  })

  it.effect("whose scopes change, changes what its tokens grant", function* () {
    const { id, pair } = yield* createKey(admin, { scope: ["assemblies:read", "dam:read"] })
    const token = yield* tokenOf(pair, "assemblies:read")
    const whole = yield* tokenOf(pair)
    yield* as(admin)(AuthKeys.update(id, { scope: ["dam:read"] }))
    for (const one of [token, whole]) refused(yield* listWithToken(one), 400, "INSUFFICIENT_AUTH_SCOPE")
    yield* as(admin)(AuthKeys.update(id, { scope: ["read"] }))
    for (const one of [token, whole]) accepted(yield* listWithToken(one))
    // A token never gets a scope that was not granted when the token was issued.
    refused(yield* callWithToken("GET", "/templates", whole), 400, "INSUFFICIENT_AUTH_SCOPE")
  })

  it.effect("with signature_algo accepts no other algorithm", function* () {
    const { id, pair } = yield* createKey(admin, { scope: ["read"], signatureAlgo: "sha256" })
    for (const algorithm of ["sha384", "sha1"]) {
      const message = refused(yield* list(pair, algorithm), 400, "INVALID_SIGNATURE")
      assert.strictEqual(message, "The Auth Key accepts only signatures of sha256.")
    }
    accepted(yield* list(pair, "sha256"))
    yield* as(admin)(AuthKeys.update(id, { signatureAlgo: "sha1" }))
    accepted(yield* list(pair, "sha1"))
    refused(yield* list(pair, "sha256"), 400, "INVALID_SIGNATURE")
    // A bearer token has no signature.
    accepted(yield* listWithToken(yield* tokenOf(pair)))
  })

  it.effect("that is deleted is refused at once, and so are its tokens", function* () {
    const { id, pair } = yield* createKey(admin, { scope: ["read"], authKey: "short-lived" })
    const token = yield* tokenOf(pair)
    accepted(yield* listWithToken(token))
    assert.strictEqual((yield* as(admin)(AuthKeys.delete(id))).ok, "AUTH_KEY_DELETED")
    refused(yield* list(pair), 400, "GET_ACCOUNT_UNKNOWN_AUTH_KEY")
    refused(yield* ask(pair), 400, "GET_ACCOUNT_UNKNOWN_AUTH_KEY")
    refused(yield* listWithToken(token), 400, "BEARER_TOKEN_INVALID")
    refused(yield* call("DELETE", `/auth_keys/${id}`, admin), 404, "AUTH_KEY_NOT_DELETED")
    // A later Auth Key with the same `key` is a different Auth Key.
    const again = yield* createKey(admin, { scope: ["read"], authKey: "short-lived" })
    assert.notStrictEqual(again.id, id)
    refused(yield* list(pair), 400, "INVALID_SIGNATURE")
    refused(yield* listWithToken(token), 400, "BEARER_TOKEN_INVALID")
    accepted(yield* list(again.pair))
  })

  it.effect("may delete itself, but not if it is the last one of its Workspace", function* () {
    const own = yield* createKey(admin, { scope: ["auth_keys:write"] })
    yield* as(own.pair)(AuthKeys.delete(own.id))
    refused(yield* call("GET", "/auth_keys", own.pair), 400, "GET_ACCOUNT_UNKNOWN_AUTH_KEY")
    const { id: last } = yield* recordOf(stranger, "stranger")
    const message = refused(yield* call("DELETE", `/auth_keys/${last}`, stranger), 409, "AUTH_KEY_NOT_DELETED")
    assert.strictEqual(message, "authKeyId: The last active Auth Key with the scope auth_keys:write cannot be deleted.")
    accepted(yield* list(stranger))
  })

  it.effect("stays and keeps its scope if it is the last one of its Workspace that can create others", function* () {
    const { id: last } = yield* recordOf(stranger, "stranger")
    const other = yield* createKey(stranger, { scope: ["assemblies:read"] })
    refused(yield* call("DELETE", `/auth_keys/${last}`, stranger), 409, "AUTH_KEY_NOT_DELETED")
    const change = { scope: ["read"], description: "not changed" }
    const message = refused(yield* call("PUT", `/auth_keys/${last}`, stranger, change), 409, "AUTH_KEY_NOT_UPDATED")
    assert.strictEqual(message, "scope: The last active Auth Key with the scope auth_keys:write must keep this scope.")
    assert.notStrictEqual((yield* recordOf(stranger, "stranger")).description, "not changed")
    // Any other Auth Key may lose the scope.
    const second = yield* createKey(stranger, { scope: ["auth_keys:write"] })
    yield* as(stranger)(AuthKeys.update(second.id, { scope: ["assemblies:read"] }))
    for (const { id } of [second, other]) yield* as(stranger)(AuthKeys.delete(id))
  })

  it.effect("shows its secret when it is created, and later only if can_show_auth_secret is true", function* () {
    const { id, pair } = yield* createKey(admin, { scope: ["read"] })
    const path = `/auth_keys/show_secret/${id}`
    const message = refused(yield* call("POST", path, admin), 403, "AUTH_SECRET_NOT_RETRIEVED")
    assert.include(message, "can_show_auth_secret: This setting of the Auth Key is false")
    yield* as(admin)(AuthKeys.update(id, { canShowAuthSecret: true }))
    const answer = yield* call("POST", path, admin)
    assert.deepStrictEqual(accepted(answer), { auth_secret: Redacted.value(pair.secret) })
    assert.strictEqual(answer.headers["cache-control"], "no-store")
    yield* as(admin)(AuthKeys.update(id, { canShowAuthSecret: false }))
    const error = yield* Effect.flip(as(admin)(AuthKeys.secret(id)))
    assert.deepInclude(error, { _tag: "AuthSecretNotRetrieved", status: 403 })
  })

  it.effect("of another Workspace is not there, and its key is taken", function* () {
    const foreign = yield* createKey(stranger, { scope: ["read"], canShowAuthSecret: true })
    const message = "authKeyId: There is no such Auth Key in this Workspace."
    for (const [method, path, code] of [
      ["PUT", "/auth_keys", "AUTH_KEY_NOT_UPDATED"],
      ["DELETE", "/auth_keys", "AUTH_KEY_NOT_DELETED"],
      ["POST", "/auth_keys/show_secret", "AUTH_SECRET_NOT_RETRIEVED"]
    ] as const) {
      assert.strictEqual(refused(yield* call(method, `${path}/${foreign.id}`, admin), 404, code), message)
    }
    const unknown = yield* Effect.flip(as(admin)(AuthKeys.delete(AuthKey.AuthKeyId.make("key-1"))))
    assert.deepInclude(unknown, { _tag: "AuthKeyNotDeleted", status: 404 })
    accepted(yield* list(foreign.pair))
    for (const key of ["stranger", foreign.pair.key, "admin"]) {
      const taken = yield* call("POST", "/auth_keys", admin, { scope: ["read"], auth_key: key })
      assert.strictEqual(refused(taken, 409, "AUTH_KEY_NOT_CREATED"), "auth_key: Another Auth Key has this value.")
    }
    accepted(yield* list(stranger))
  })
})

layer(layerEmulator({ workspaces }))("A request manages only Auth Keys", (it) => {
  const message = (scopes: string) =>
    `scope: The request needs all scopes of an Auth Key to manage the Auth Key; it lacks ${scopes}.`

  it.effect("whose scopes it has: it creates no stronger one", function* () {
    const { pair } = yield* createKey(manager, { scope: ["assemblies:read"] })
    accepted(yield* list(pair))
    for (const [scope, lacking] of [
      [["assemblies:read", "dam:write"], "dam:write"],
      [["read", "write"], "read write"],
      [["assemblies:write"], "assemblies:write"]
    ] as const) {
      const answer = yield* call("POST", "/auth_keys", manager, { scope })
      assert.strictEqual(refused(answer, 403, "AUTH_KEY_NOT_CREATED"), message(lacking))
    }
  })

  it.effect("whose scopes it has: it neither extends itself, nor changes, deletes nor shows more", function* () {
    const { id: own } = yield* recordOf(admin, "manager")
    const extended = yield* call("PUT", `/auth_keys/${own}`, manager, { scope: ["auth_keys:write", "dam:read"] })
    assert.strictEqual(refused(extended, 403, "AUTH_KEY_NOT_UPDATED"), message("dam:read"))
    const strong = yield* createKey(admin, { scope: ["write", "assemblies:read"], canShowAuthSecret: true })
    const path = `/auth_keys/${strong.id}`
    for (const params of [{ scope: ["assemblies:read"] }, { can_show_auth_secret: true }, {}]) {
      const answer = yield* call("PUT", path, manager, params)
      assert.strictEqual(refused(answer, 403, "AUTH_KEY_NOT_UPDATED"), message("write"))
    }
    refused(yield* call("DELETE", path, manager), 403, "AUTH_KEY_NOT_DELETED")
    refused(yield* call("POST", `/auth_keys/show_secret/${strong.id}`, manager), 403, "AUTH_SECRET_NOT_RETRIEVED")
    const kept = yield* recordOf(admin, strong.pair.key)
    assert.deepInclude(kept, { scope: ["write", "assemblies:read"], modified: null })
    // The request can manage an Auth Key that has only scopes of the request.
    const weak = yield* createKey(admin, { scope: ["assemblies:read"] })
    yield* as(manager)(AuthKeys.update(weak.id, { canShowAuthSecret: true }))
    yield* as(manager)(AuthKeys.secret(weak.id))
    yield* as(manager)(AuthKeys.delete(weak.id))
  })

  it.effect("whose scopes its token has", function* () {
    const token = yield* tokenOf(admin, "auth_keys:write", "dam:read")
    const answer = yield* callWithToken("POST", "/auth_keys", token, { scope: ["assemblies:read"] })
    assert.strictEqual(refused(answer, 403, "AUTH_KEY_NOT_CREATED"), message("assemblies:read"))
    accepted(yield* callWithToken("POST", "/auth_keys", token, { scope: ["dam:read"] }))
  })
})
