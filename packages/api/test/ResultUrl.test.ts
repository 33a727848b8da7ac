import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Reading from "@assembly-effect/api/unstable/Reading"

const redirect = (location: string | undefined, from: string) =>
  Result.match(Reading.redirect(location, new URL(from)), {
    onFailure: () => "refused",
    onSuccess: ({ href }) => href
  })

describe("a redirect", () => {
  it("a redirect from https is followed to https only", () => {
    const from = "https://a.example.com/x/y"
    assert.strictEqual(redirect("http://127.0.0.1:1/", from), "refused")
    assert.strictEqual(redirect("http://a.example.com/", from), "refused")
    assert.strictEqual(redirect("HTTP://localhost/", from), "refused")
    assert.strictEqual(redirect("https://b.example.com/?a=1#part", from), "https://b.example.com/?a=1")
    assert.strictEqual(redirect("../z", from), "https://a.example.com/z")
    assert.strictEqual(redirect("//b.example.com/z", from), "https://b.example.com/z")
    for (const location of ["data:,x", "javascript:1", "https://user@a.example.com/", "https://", undefined]) {
      assert.strictEqual(redirect(location, from), "refused", location ?? "none")
    }
  })
})
