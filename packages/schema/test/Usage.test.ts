/** Bills, job slots, notifications, replays, and assets in bulk. */
import { AssemblyReplay, DamEntries, Identifier } from "@assembly-effect/schema"
import * as Bill from "@assembly-effect/schema/Bill"
import * as Notification from "@assembly-effect/schema/Notification"
import * as Queue from "@assembly-effect/schema/Queue"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { accepted, accepts, onDecode, onEncode } from "./support.ts"

describe("a bill", () => {
  const decode = Schema.decodeUnknownSync(Bill.Bill)

  it("has amounts as numbers, also where they travel as text, and keeps plan, robots and unknown fields", () => {
    const same = { ok: "BILL_FOUND", sub_total: 10, plan: { name: "large" }, robots: [1], discount: { percent: 5 } }
    const bill = decode({ ...same, total: "12.50", credit: "-1" })
    assert.deepStrictEqual<object>(bill, { ...same, total: 12.5, credit: -1 })
  })

  it("leaves out an amount that is no number, and needs its ok", () => {
    for (const total of ["", "a", "1e9", "0x1", {}, true])
      assert.notProperty(decode({ ok: "BILL_FOUND", total }), "total")
    assert.deepStrictEqual(onDecode(Bill.Bill, { total: 1 }), ["ok: Missing key"])
  })
})

describe("job slots", () => {
  it("are numbers by name, nested", () => {
    const of = (slots: unknown) => ({ ok: "PRIORITY_JOB_SLOTS_FOUND", priority_job_slots: { count: 3, slots } })
    const valid = [of({}), of({ a: 3 }), of({ "eu-west-1": { encode: { "/x": 2 }, other: 1 } })]
    assert.deepStrictEqual(accepted(Queue.JobSlots, [...valid, of({ a: "3" }), of({ a: -1 }), of(5), of(null)]), valid)
  })

  it("have statistics with an aggregation of avg, max or null", () => {
    const query = { region: "eu-west-1", since: DateTime.makeUnsafe("2026-01-01T00:00:00Z") }
    assert.deepStrictEqual(Schema.encodeSync(Queue.StatisticsQuery)({ ...query, aggregation: null }) as object, {
      region: "eu-west-1",
      since: "2026-01-01T00:00:00.000Z",
      aggregation: null
    })
    assert.isNotEmpty(onEncode(Queue.StatisticsQuery, { ...query, aggregation: "sum" }))
    const wire = { ok: "PRIORITY_JOB_SLOT_STATS_FOUND", stats: [{ data_from_ts: 1, slot_count: "3", more: 1 }] }
    const [bucket] = Schema.decodeUnknownSync(Queue.Statistics)(wire).stats
    assert.deepStrictEqual(bucket as object, { data_from_ts: 1, more: 1 })
  })
})

describe("a notification", () => {
  it("has its start as DateTime, any status, and unknown fields", () => {
    const wire = { start: "2026/01/01 10:00:00 GMT", status: "new", duration: 0.5, response_code: "200", extra: [1] }
    const [read] = Schema.decodeUnknownSync(Notification.Listing)({
      ok: "ASSEMBLY_NOTIFICATIONS_LISTED",
      notifications: [wire]
    }).notifications
    assert(read !== undefined && DateTime.isDateTime(read.start))
    assert.strictEqual(DateTime.formatIso(read.start), "2026-01-01T10:00:00.000Z")
    assert.deepInclude(read, { status: "new", duration: 0.5, extra: [1] })
    assert.notProperty(read, "response_code")
  })
})

describe("a replay", () => {
  it("may change a Step without its robot, and has a flag of 0 and 1", () => {
    assert.deepStrictEqual(
      Schema.encodeSync(AssemblyReplay.ReplayRequest)({ steps: { a: { width: 5 } }, reparseTemplate: false }) as object,
      { steps: { a: { width: 5 } }, reparse_template: 0 }
    )
  })

  it("names the new Assembly", () => {
    assert.isFalse(accepts(AssemblyReplay.Replayed, { ok: "ASSEMBLY_REPLAYING", assembly_id: "x" }))
    assert.isTrue(
      accepts(AssemblyReplay.Replayed, { ok: "ASSEMBLY_REPLAYING", assembly_id: "0".repeat(32), success: 1 })
    )
  })
})

describe("assets in bulk", () => {
  const id = Identifier.AssetId.make("0123456789_-abcdefABCA")

  it("need the folder of a move, null for the root", () => {
    assert.isNotEmpty(onEncode(DamEntries.MoveManyRequest, { assetIds: [id] }))
    const seen = Schema.encodeSync(DamEntries.MoveManyRequest)({ assetIds: [id], destinationFolderId: null }) as object
    assert.deepStrictEqual(seen, { asset_ids: [id], destination_folder_id: null })
  })

  it("have null as the cursor of the last page", () => {
    const page = { ok: "DAM_ASSETS_LISTED", workspace: "main", assets: [] }
    assert.isTrue(accepts(DamEntries.Page, { ...page, next_cursor: null }))
    assert.isFalse(accepts(DamEntries.Page, page))
    assert.isFalse(accepts(DamEntries.Page, { ...page, next_cursor: "" }))
  })
})
