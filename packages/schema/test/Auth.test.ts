import * as Auth from "@assembly-effect/schema/unstable/Auth"
import { assert, describe, it } from "@effect/vitest"
import { Redacted, Schema } from "effect"
import { inspect } from "node:util"
import { accepted, accepts, onDecode } from "./support.ts"

describe("TokenRequest", () => {
  it("is a form of grant_type, aud and the scopes with spaces between them (spec A-8)", () => {
    const request = Auth.TokenRequest.make({ scope: ["assemblies:read", "dam:write"] })
    const wire = { grant_type: "client_credentials", aud: "api2", scope: "assemblies:read dam:write" } as const
    assert.deepStrictEqual(Schema.encodeSync(Auth.TokenRequest)(request), wire)
    assert.deepStrictEqual(Schema.decodeUnknownSync(Auth.TokenRequest)(wire), request)
  })

  it("may leave the scope out, but not empty", () => {
    const open = { grantType: "client_credentials", aud: "api2" } as const
    const wire = { grant_type: "client_credentials", aud: "api2" }
    assert.deepStrictEqual(Schema.encodeSync(Auth.TokenRequest)(open), wire)
    assert.isFalse(accepts(Auth.TokenRequest, { ...wire, scope: "" }))
    assert.isFalse(accepts(Auth.TokenRequest, { ...wire, scope: "a  b" }))
  })

  it("accepts an unknown scope", () => {
    assert.isTrue(Schema.is(Auth.Scope)("something:new"))
  })
})

describe("TokenResponse", () => {
  const decode = Schema.decodeUnknownSync(Auth.TokenResponse)

  it("needs the access token alone (spec A-10)", () => {
    assert.strictEqual(Redacted.value(decode({ access_token: "t" }).access_token), "t")
    assert.deepStrictEqual(onDecode(Auth.TokenResponse, { expires_in: 5 }), ["access_token: Missing key"])
    assert.deepStrictEqual(onDecode(Auth.TokenResponse, { access_token: "t", expires_in: "5" }), [
      "expires_in: Expected number"
    ])
    assert.deepStrictEqual(decode({ access_token: "t", expires_in: 5, token_type: "Bearer", more: 1 }).expires_in, 5)
  })

  it("has a token and a token type that fit into a header", () => {
    const of = (access_token: string) => ({ access_token })
    assert.deepStrictEqual(accepted(Auth.TokenResponse, ["", "a b", "a\r\nx: 1", "ä", "a.b-c_~="].map(of)), [
      of("a.b-c_~=")
    ])
    const typed = (token_type: string) => ({ access_token: "t", token_type })
    const valid = [typed("Bearer"), typed("bearer"), typed("BEARER")]
    assert.deepStrictEqual(accepted(Auth.TokenResponse, [...valid, typed("mac"), typed(" bearer")]), valid)
  })

  it("encodes a token with any label", () => {
    const tokens = [
      Redacted.make("t"),
      Redacted.make("t", { label: "mine" }),
      decode({ access_token: "t" }).access_token
    ]
    for (const access_token of tokens) {
      assert.deepStrictEqual(Schema.encodeSync(Auth.TokenResponse)({ access_token }), { access_token: "t" })
    }
  })

  it("shows the token nowhere (spec A-11)", () => {
    const response = decode({ access_token: "very-secret" })
    for (const shown of [String(response.access_token), JSON.stringify(response), inspect(response, { depth: 9 })]) {
      assert.notInclude(shown, "very-secret")
    }
  })
})
