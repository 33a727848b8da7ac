/** Tests which requests for Auth Keys are refused, and with which message. */
import * as AuthKeys from "@assembly-effect/api/AuthKeys"
import * as Auth from "@assembly-effect/schema/unstable/Auth"
import * as AuthKey from "@assembly-effect/schema/AuthKey"
import { assert, layer } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as Schema from "effect/Schema"
import { as, call, createKey, given, refused } from "./keys.ts"
import { layer as layerEmulator, send } from "./support.ts"

const admin = given("admin")
const stranger = given("stranger")
const workspaces = [
  { slug: "north", keys: [admin, given("other")] },
  { slug: "south", keys: [stranger] }
]

/** The number of generated requests of each kind. */
const count = Number(process.env["PROPERTY_RUNS"] ?? 50)
const seed = 20_261_122
const sample = <A>(arbitrary: Arbitrary.Arbitrary<A>) => Arbitrary.sampleEffect(arbitrary, { count, seed })

layer(layerEmulator({ workspaces }), { excludeTestServices: true })("A request for an Auth Key", (it) => {
  const creations: ReadonlyArray<readonly [name: string, params: object, message: RegExp]> = [
    ["no scope", {}, /^scope: /],
    ["an empty list of scopes", { scope: [] }, /^scope\.0: Missing key/],
    ["a scope as text", { scope: "read" }, /^scope: /],
    ["a scope with white space", { scope: ["read", "a b"] }, /^scope\.1: Expected a scope without white space/],
    [
      "an unknown scope",
      { scope: ["read", "x:read"] },
      /^scope\.1: Expected a scope that GET \/auth_keys\/scopes lists$/
    ],
    ["an empty key", { scope: ["read"], auth_key: "" }, /^auth_key: /],
    [
      "a key with a colon",
      { scope: ["read"], auth_key: "a:b" },
      /^auth_key: Expected 1 to 255 characters, without colons/
    ],
    ["a key with white space", { scope: ["read"], auth_key: "a b" }, /^auth_key: Expected 1 to 255 characters/],
    ["a key that is too long", { scope: ["read"], auth_key: "k".repeat(256) }, /^auth_key: Expected 1 to 255 char/],
    ["a broken key", { scope: ["read"], auth_key: "\ud800" }, /^auth_key: Expected 1 to 255 characters/],
    ["an unknown algorithm", { scope: ["read"], signature_algo: "md5" }, /^signature_algo: /],
    ["a flag that is none", { scope: ["read"], can_show_auth_secret: "yes" }, /^can_show_auth_secret: /],
    [
      "a long description",
      { scope: ["read"], description: "d".repeat(1001) },
      /^description: Expected at most 1000 char/
    ],
    [
      "several of these",
      { scope: ["x"], auth_key: ":", description: "d".repeat(1001) },
      /^scope\.0: .+; auth_key: .+; description: /
    ]
  ]

  it.effect.each(creations)("with %s is refused, by field and rule", ([, params, message]) =>
    Effect.gen(function* () {
      assert.match(refused(yield* call("POST", "/auth_keys", admin, params), 400, "AUTH_KEY_NOT_CREATED"), message)
    })
  )

  it.effect("to change one is refused, by field and rule", () =>
    Effect.gen(function* () {
      const { id } = yield* createKey(admin, { scope: ["read"] })
      for (const [params, message] of [
        [{ scope: [] }, /^scope\.0: Missing key/],
        [{ scope: ["x"] }, /^scope\.0: Expected a scope that GET/],
        [{ signature_algo: null }, /^signature_algo: /],
        [{ description: "d".repeat(1001) }, /^description: Expected at most 1000 characters$/]
      ] as const) {
        const answer = yield* call("PUT", `/auth_keys/${id}`, admin, params)
        assert.match(refused(answer, 400, "AUTH_KEY_NOT_UPDATED"), message)
      }
    })
  )

  it.effect("with an invalid id is refused with the code of its operation", () =>
    Effect.gen(function* () {
      const id = "%00"
      for (const [method, path, code] of [
        ["PUT", `/auth_keys/${id}`, "AUTH_KEY_NOT_UPDATED"],
        ["DELETE", `/auth_keys/${id}`, "AUTH_KEY_NOT_DELETED"],
        ["POST", `/auth_keys/show_secret/${id}`, "AUTH_SECRET_NOT_RETRIEVED"]
      ] as const) {
        assert.match(refused(yield* call(method, path, admin), 400, code), /^authKeyId: Expected an id without control/)
      }
    })
  )

  it.effect("with another body than a form is refused with the code of its operation", () =>
    Effect.gen(function* () {
      for (const type of ["application/json", "text/plain"]) {
        const answer = yield* send(HttpClientRequest.post("/auth_keys").pipe(HttpClientRequest.bodyText("{}", type)))
        const message = refused(answer, 400, "AUTH_KEY_NOT_CREATED")
        assert.match(message, /^The operation does not accept a body of type /)
      }
    })
  )

  it.effect("to list them or the scopes has no rule but the nonce", () =>
    Effect.gen(function* () {
      for (const path of ["/auth_keys", "/auth_keys/scopes"]) {
        const message = refused(yield* call("GET", path, admin, { nonce: {} }), 400, "SERVER_400")
        assert.match(message, /^nonce: /)
      }
    })
  )

  // The emulator has its own rules for `auth_key` and scopes, so this test uses values that these rules permit.
  it.effect("is never malformed when it is generated and valid", () =>
    Effect.gen(function* () {
      const scopes = yield* sample(Arbitrary.schema(Schema.NonEmptyArray(Auth.KnownScope)))
      const scopeAt = (index: number) => scopes[index] ?? (["read"] as const)
      const generated = yield* sample(Arbitrary.schema(AuthKey.CreateRequest))
      yield* Effect.forEach(
        generated,
        Effect.fnUntraced(function* ({ authKey: _authKey, ...request }, index) {
          const { auth_key } = yield* as(admin)(AuthKeys.create({ ...request, scope: scopeAt(index) }))
          // The database replaces lone surrogates.
          assert.strictEqual(auth_key.description, request.description?.toWellFormed() ?? null)
          yield* as(admin)(AuthKeys.delete(auth_key.id))
        }),
        { concurrency: 8, discard: true }
      )
      const { id } = yield* createKey(admin, { scope: ["read"] })
      const updates = yield* sample(Arbitrary.schema(AuthKey.UpdateRequest))
      yield* Effect.forEach(
        updates,
        (request, index) => {
          const scope = request.scope === undefined ? {} : { scope: scopeAt(index) }
          return as(admin)(AuthKeys.update(id, { ...request, ...scope }))
        },
        { concurrency: 8, discard: true }
      )
    })
  )
})

layer(layerEmulator({ workspaces, limits: { authKeys: 3 } }), { excludeTestServices: true })("A Workspace", (it) => {
  it.effect("has at most as many Auth Keys as the limit says", () =>
    Effect.gen(function* () {
      const { id } = yield* createKey(admin, { scope: ["read"] })
      const answer = yield* call("POST", "/auth_keys", admin, { scope: ["read"] })
      const message = refused(answer, 409, "AUTH_KEY_NOT_CREATED")
      assert.strictEqual(message, "auth_keys: A Workspace has at most 3 Auth Keys.")
      yield* as(admin)(AuthKeys.delete(id))
      yield* createKey(admin, { scope: ["read"] })
      // Another Workspace has its own limit.
      yield* createKey(stranger, { scope: ["read"] })
    })
  )
})
