import { AuthKeyId } from "@assembly-effect/schema/AuthKey"
import { CredentialId } from "@assembly-effect/schema/TemplateCredential"
import { assert, describe, it } from "@effect/vitest"
import { accepted } from "./support.ts"

/** A URL parser would make another path of these, so that a request would reach another resource. */
const invalid = ["", ".", "..", "a/b", "/", "../x", "a\\b", "a\nb", "a\u0000", "\ud800", "x".repeat(256)]

const valid = ["a", "...", "a.b", "a b", "%2F", "?", "#", "\u00e9", "x".repeat(255)]

describe("An id in the path of a request", () => {
  it("of an Auth Key is a part of a path", () => {
    assert.deepStrictEqual(accepted(AuthKeyId, [...valid, ...invalid]), valid)
  })

  it("of Template Credentials is a part of a path", () => {
    assert.deepStrictEqual(accepted(CredentialId, [...valid, ...invalid]), valid)
  })
})
