/** Tests which requests for Auth Keys are refused, and with which message. */
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import { as, call, createKey, given, refused } from "./keys.ts"
import { layer as layerEmulator } from "./support.ts"
import { assert, layer } from "@assembly-effect/testkit/flow"

const admin = given("admin")
const stranger = given("stranger")
const workspaces = [
  { slug: "north", keys: [admin, given("other")] },
  { slug: "south", keys: [stranger] }
]

layer(layerEmulator({ workspaces }))("A request for an Auth Key", (it) => {
  const keys = /^auth_key: Expected 1 to 255 characters, without colons/
  const creations: ReadonlyArray<readonly [name: string, params: object, message: RegExp]> = [
    [
      "an unknown scope",
      { scope: ["read", "x:read"] },
      /^scope\.1: Expected a scope that GET \/auth_keys\/scopes lists$/
    ],
    ["a key with a colon", { auth_key: "a:b" }, keys],
    ["a key with white space", { auth_key: "a b" }, keys],
    ["a key that is too long", { auth_key: "k".repeat(256) }, keys],
    ["a broken key", { auth_key: "\ud800" }, keys],
    ["a long description", { description: "d".repeat(1001) }, /^description: Expected at most 1000 char/],
    [
      "several of these",
      { scope: ["x"], auth_key: ":", description: "d".repeat(1001) },
      /^scope\.0: .+; auth_key: .+; d/
    ]
  ]

  it.effect.each(creations)("with %s is refused, by field and rule", function* ([, params, message]) {
    assert.match(
      refused(yield* call("POST", "/auth_keys", admin, { scope: ["read"], ...params }), 400, "AUTH_KEY_NOT_CREATED"),
      message
    )
  })
})

layer(layerEmulator({ workspaces, limits: { authKeys: 3 } }))("A Workspace", (it) => {
  it.effect("has at most as many Auth Keys as the limit says", function* () {
    const { id } = yield* createKey(admin, { scope: ["read"] })
    const answer = yield* call("POST", "/auth_keys", admin, { scope: ["read"] })
    const message = refused(answer, 409, "AUTH_KEY_NOT_CREATED")
    assert.strictEqual(message, "auth_keys: A Workspace has at most 3 Auth Keys.")
    yield* as(admin)(AuthKeys.delete(id))
    yield* createKey(admin, { scope: ["read"] })
    // Another Workspace has its own limit.
    yield* createKey(stranger, { scope: ["read"] })
  })
})
