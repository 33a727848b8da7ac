/** A schema of your own that contains a request of the service has the rules of the request, and yours. */
import { Dam } from "@assembly-effect/api"
import * as Testing from "@assembly-effect/api/testing"
import { DamAsset } from "@assembly-effect/schema"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"

/** The schema under test. */
const Order = Schema.Struct({ asset: DamAsset.MoveRequest, reason: Schema.String.check(Schema.isMaxLength(100)) })

const { rules, valid } = Testing.make(
  Order,
  Testing.at(["asset"], Testing.of(Dam.Move).params),
  Testing.required(["reason"]),
  Testing.rule({
    at: ["reason"],
    name: "is at most 100 characters",
    bad: Arbitrary.Constant("a".repeat(101)),
    edge: Arbitrary.Constant("a".repeat(100))
  })
)

describe("an order", () => {
  it.prop("accepts what is valid", [valid.wire], ([order]) => Schema.is(Schema.toEncoded(Order))(order))

  describe.each(rules.wire)("$name", ({ invalid }) => {
    it.prop("is checked", [invalid], ([{ input }]) => {
      assert.strictEqual(Schema.decodeUnknownExit(Order)(input)._tag, "Failure")
    })
  })
})
