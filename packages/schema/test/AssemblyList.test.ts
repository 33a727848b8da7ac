import { AssemblyList } from "@assembly-effect/schema"
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Option, Schema } from "effect"
import { accepted, onDecode } from "./support.ts"

const id = "0123456789abcdef0123456789abcdef"
const fromDate = DateTime.makeUnsafe("2026-01-01T10:00:00Z")

describe("Query", () => {
  const encode = Schema.encodeUnknownSync(AssemblyList.Query)

  it("needs only fromDate and sends no defaults (spec O-17)", () => {
    assert.deepStrictEqual(encode({ fromDate }), { fromdate: "2026-01-01 10:00:00" })
    assert.deepStrictEqual(onDecode(AssemblyList.Query, {}), ["fromdate: Missing key"])
  })

  it("names the defaults of the service (spec O-14, O-15, O-16)", () => {
    assert.deepStrictEqual(AssemblyList.defaults, { page: 1, pageSize: 50, type: "all", keywords: [] })
    assert.isTrue(Schema.is(AssemblyList.Query)({ ...AssemblyList.defaults, fromDate }))
  })

  it("has dates in whole seconds, with the window rounded to the outside", () => {
    const moment = DateTime.makeUnsafe("2026-01-01T10:00:00.250Z")
    assert.deepStrictEqual(encode({ fromDate: moment, toDate: moment }), {
      fromdate: "2026-01-01 10:00:00",
      todate: "2026-01-01 10:00:01"
    })
  })

  it("does not send an unknown key and ignores a received one", () => {
    assert.deepStrictEqual(encode({ fromDate, pagesize: 5 }), { fromdate: "2026-01-01 10:00:00" })
    assert.deepStrictEqual(onDecode(AssemblyList.Query, { fromdate: "2026-01-01 10:00:00", other: 5 }), [])
  })

  it("lists every issue under the keys that the sender wrote", () => {
    const wire = { fromdate: "2026-02-30 00:00:00", todate: "today", pagesize: 0, type: "x", page: "1" }
    assert.deepStrictEqual(onDecode(AssemblyList.Query, wire), [
      "page: Expected number",
      "pagesize: Expected an integer of 1 to 5000",
      'type: Expected "all" | "uploading" | "executing" | "canceled" | "completed" | "failed" | "request_aborted"',
      "fromdate: Expected a valid calendar date",
      "todate: Expected a date-time YYYY-MM-DD HH:MM:SS"
    ])
  })
})

describe("Listing", () => {
  const decode = Schema.decodeUnknownSync(AssemblyList.Listing)
  const entry = { id, created: "2026/01/01 10:00:00 GMT", ok: null, something: { new: [1] } }

  it("reads a bare array and an object with items alike, and keeps unknown fields (spec R-10, O-19)", () => {
    assert.deepStrictEqual(decode([entry]) as object, { items: [entry] })
    assert.deepStrictEqual(decode({ items: [entry], count: 7 }) as object, { items: [entry], count: 7 })
    assert.deepStrictEqual(decode([]) as object, { items: [] })
  })

  it("refuses any other value", () => {
    const seen = accepted(AssemblyList.Listing, [null, "a", {}, { items: {} }, [{ id }], [{ id: "a", created: "b" }]])
    assert.deepStrictEqual(seen, [])
  })

  it("accepts the same entries as the schema of an entry, with the same values", () => {
    const base = { id, created: "b" }
    const of = (key: string, ...values: ReadonlyArray<unknown>) =>
      values.map((value) => Object.assign({}, base, { [key]: value }))
    const cycle: Record<string, unknown> = { ...base }
    cycle["self"] = cycle
    const strange = [1, 1.5, NaN, Infinity, -Infinity, "", "x", true, null, undefined, 1n, [], [undefined], {}]
    const candidates: ReadonlyArray<unknown> = [
      ...Object.keys(AssemblyList.Entry.schema.fields).flatMap((key) => of(key, ...strange)),
      ...of("other", ...strange, { deep: [NaN] }, { deep: [1, { x: null }] }, new Date(0), new Map(), () => 1),
      { id },
      { id: id.toUpperCase(), created: "b" },
      { created: "b" },
      Object.create(base),
      Object.assign(Object.create(null), base),
      Object.assign(new Error("no plain object"), base),
      JSON.parse(`{"id":"${id}","created":"b","__proto__":{"x":1}}`),
      [],
      "a",
      null,
      cycle
    ]
    const expected = Schema.decodeUnknownOption(AssemblyList.Entry)
    const actual = Schema.decodeUnknownOption(AssemblyList.Listing)
    for (const candidate of candidates) {
      const items = Option.map(actual({ items: [candidate] }), (page) => page.items[0])
      assert.deepStrictEqual(items, expected(candidate))
    }
  })

  it("is readable with a malformed optional field, which is left out", () => {
    const odd = { ...entry, region: 5, bytes_received: "12", files: ["a"], more: 1 }
    assert.deepStrictEqual(decode({ items: [odd, entry], count: "two" }) as object, {
      items: [{ ...entry, more: 1 }, entry]
    })
    assert.deepStrictEqual(decode([odd]) as object, { items: [{ ...entry, more: 1 }] })
  })

  it("names the path of a problem in an entry", () => {
    assert.deepStrictEqual(
      onDecode(AssemblyList.Page, {
        items: [
          { id, created: "b" },
          { id: 1, ok: 2 }
        ]
      }),
      ["items.1.id: Expected string", "items.1.created: Missing key", "items.1.ok: Expected string | null"]
    )
  })
})
