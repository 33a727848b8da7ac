/** Tests Auth Keys across restarts, under concurrent requests, the time of their last use, and their redaction. */
import { Assemblies } from "@assembly-effect/api"
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import { Emulator, type Workspace } from "@assembly-effect/emulator"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import { DateTime, Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Store from "../src/internal/auth/authKeys.ts"
import { accepted, as, ask, call, createKey, given, list, listWithToken, recordOf, refused, tokenOf } from "./keys.ts"
import { layerData } from "./stores.ts"
import { receiver } from "./notified.ts"
import { hmac, layer as layerEmulator, temporaryFolder } from "./support.ts"
import { assert, it } from "@assembly-effect/testkit/flow"

const admin = given("admin")
it.live("a start puts the given Auth Keys again: their scopes, and themselves if they were deleted", function* () {
  const data = yield* temporaryFolder
  const other = given("other", ["read"])
  const workspaces = [{ slug: "main", keys: [admin, other] }]
  const { before, token } = yield* Effect.gen(function* () {
    const record = yield* recordOf(admin, "other")
    const issued = yield* tokenOf(other)
    yield* as(admin)(AuthKeys.delete(record.id))
    const own = yield* recordOf(admin, "admin")
    yield* as(admin)(AuthKeys.update(own.id, { scope: ["auth_keys:write"], description: "changed" }))
    return { before: { own, record }, token: issued }
  }).pipe(Effect.provide(layerEmulator({ data, workspaces })))
  yield* Effect.gen(function* () {
    const own = yield* recordOf(admin, "admin")
    assert.deepInclude(own, { id: before.own.id, description: "changed", scope: ["read", "write", "smart_cdn:sign"] })
    const again = yield* recordOf(admin, "other")
    assert.notStrictEqual(again.id, before.record.id)
    accepted(yield* list(other))
    // The start created a new Auth Key with the same secret, so the earlier token stays invalid.
    refused(yield* listWithToken(token), 400, "BEARER_TOKEN_INVALID")
  }).pipe(Effect.provide(layerEmulator({ data, workspaces })))
})
it.live("an inactive Auth Key is refused with every proof, and stays in the list", function* () {
  const data = yield* temporaryFolder
  const other: Workspace.AuthKey = given("other")
  const start = (isActive: boolean) =>
    layerEmulator({ data, workspaces: [{ slug: "main", keys: [admin, { ...other, isActive }] }] })
  const token = yield* Effect.provide(tokenOf(other), start(true))
  yield* Effect.gen(function* () {
    refused(yield* list(other), 400, "GET_ACCOUNT_UNKNOWN_AUTH_KEY")
    refused(yield* ask(other), 400, "GET_ACCOUNT_UNKNOWN_AUTH_KEY")
    refused(yield* listWithToken(token), 400, "BEARER_TOKEN_INVALID")
    assert.strictEqual((yield* recordOf(admin, "other")).is_active, false)
    // An inactive Auth Key does not count, so the other Auth Key is the last one.
    const { id } = yield* recordOf(admin, "admin")
    refused(yield* call("DELETE", `/auth_keys/${id}`, admin), 409, "AUTH_KEY_NOT_DELETED")
  }).pipe(Effect.provide(start(false)))
  // A later start does not use the inactive Auth Key as its credentials. The Auth Key still belongs to its Workspace.
  const { credentials } = yield* Effect.provide(
    Emulator.Emulator,
    layerEmulator({ data, workspaces: [{ slug: "main", keys: [] }] })
  )
  assert.strictEqual(credentials.key, "admin")
  const moved = yield* Effect.flip(
    Effect.scoped(Layer.build(Emulator.layer({ data, workspaces: [{ slug: "second", keys: [other] }] })))
  )
  assert.deepInclude(moved, { _tag: "KeyInTwoWorkspaces", workspaces: ["main", "second"] })
  yield* Effect.provide(Effect.map(list(other), accepted), start(true))
  yield* Effect.provide(Effect.map(listWithToken(token), accepted), start(true))
})
/** A store with two Auth Keys. `first` and `second` are the Auth Keys of authenticated requests. */
const records = Effect.gen(function* () {
  const store = yield* Store.make
  const put = Effect.fnUntraced(function* (key: string) {
    const secret = Redacted.make(`the secret of ${key}`)
    yield* store.put({ key, secret, workspace: "main", scopes: ["read", "write"], isActive: true })
    return Option.getOrThrow(yield* store.find(key))
  })
  return { store, first: yield* put("first"), second: yield* put("second") }
})

const testStore = layerData()

it.effect("an Auth Key that is deleted after it was authenticated changes nothing any more", testStore, function* () {
  const { first, second, store } = yield* records
  const firstId = AuthKey.AuthKeyId.make(first.id)
  yield* store.remove(second, firstId)
  const before = yield* store.list("main")
  const id = AuthKey.AuthKeyId.make(second.id)
  const refusals = yield* Effect.all([
    Effect.flip(store.create(first, { scope: ["read"] })),
    Effect.flip(store.update(first, id, { description: "changed" })),
    Effect.flip(store.remove(first, id)),
    Effect.flip(store.secret(first, id))
  ])
  for (const error of refusals) {
    assert(error._tag === "Refused")
    assert.include(error.message, "auth.key: The Auth Key of the request was deleted")
  }
  assert.deepStrictEqual(yield* store.list("main"), before)
})

it.effect("an Auth Key that lost a scope after it was authenticated no longer gives it", testStore, function* () {
  const { first, second, store } = yield* records
  yield* store.update(second, AuthKey.AuthKeyId.make(first.id), { scope: ["auth_keys:write"] })
  const error = yield* Effect.flip(store.create(first, { scope: ["read"] }))
  assert.include(error.message, "it lacks read")
  yield* store.create(first, { scope: ["auth_keys:write"] })
  yield* store.update(second, AuthKey.AuthKeyId.make(first.id), { scope: ["read"] })
  assert.include((yield* Effect.flip(store.create(first, { scope: ["read"] }))).message, "lost the scope")
})

const noon = DateTime.makeUnsafe("2026-11-22T12:00:00Z")
const atNoon = Layer.effectDiscard(TestClock.setTime(noon.epochMilliseconds))

it.effect(
  "last_used is to the minute",
  layerEmulator({ credentials: admin }).pipe(Layer.provide(atNoon)),
  function* () {
    const { pair } = yield* createKey(admin, { scope: ["assemblies:read"] })
    const idle = yield* createKey(admin, { scope: ["assemblies:read"] })
    const used = Effect.map(recordOf(admin, pair.key), ({ last_used }) => last_used)
    assert.strictEqual(yield* used, null)
    // A refused request does not count as a use.
    refused(yield* call("GET", "/templates", pair), 400, "INSUFFICIENT_AUTH_SCOPE")
    refused(yield* list({ ...pair, secret: Redacted.make("another") }), 400, "INVALID_SIGNATURE")
    assert.strictEqual(yield* used, null)
    const first = DateTime.add(noon, { seconds: 10 })
    for (const [pause, last] of [
      ["10 seconds", first],
      ["59 seconds", first],
      ["1 second", DateTime.add(first, { minutes: 1 })]
    ] as const) {
      yield* TestClock.adjust(pause)
      accepted(yield* list(pair))
      assert.deepStrictEqual(yield* used, last)
    }
    // A request for a token counts as a use, and so does a request with the token.
    yield* TestClock.adjust("5 minutes")
    const token = yield* tokenOf(pair)
    assert.deepStrictEqual(yield* used, DateTime.add(first, { minutes: 6 }))
    yield* TestClock.adjust("5 minutes")
    accepted(yield* listWithToken(token))
    assert.deepStrictEqual(yield* used, DateTime.add(first, { minutes: 11 }))
    // The use of an Auth Key does not change `last_used` of another Auth Key.
    assert.isNull((yield* recordOf(admin, idle.pair.key)).last_used)
  }
)

it.live(
  "a notification is signed with the Auth Key of its Assembly, never with one of another Workspace",
  function* () {
    const hook = yield* receiver([])
    const stranger = given("stranger")
    const workspaces = [
      { slug: "north", keys: [admin] },
      { slug: "south", keys: [stranger] }
    ]
    yield* Effect.gen(function* () {
      const { id, pair } = yield* createKey(admin, { scope: ["write"], authKey: "shared" })
      const { assembly_id } = yield* as(pair)(Assemblies.create({ notifyUrl: hook.url }))
      const signed = yield* hook.next
      assert.strictEqual(signed.signature, hmac(signed.transloadit, pair.secret))
      yield* as(admin)(AuthKeys.delete(id))
      yield* createKey(stranger, { scope: ["write"], authKey: "shared" })
      accepted(yield* call("POST", `/assembly_notifications/${assembly_id}/replay`, admin))
      assert.strictEqual((yield* hook.next).signature, "null")
    }).pipe(Effect.provide(layerEmulator({ workspaces })))
  }
)
