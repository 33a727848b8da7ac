import * as Billing from "@assembly-effect/api/Billing"
import * as Bill from "@assembly-effect/schema/Bill"
import { DateTime, Effect, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as AssemblyStore from "../src/internal/assembly/assemblyStore.ts"
import * as Bills from "../src/internal/billing/bills.ts"
import { as, south, workspaces } from "./keys.ts"
import { call } from "./signedCalls.ts"
import { layerAssemblies, newAssembly } from "./stores.ts"
import { json, layer as layerEmulator, storeAt, uploadOne } from "./support.ts"
import { assert, describe, it } from "@assembly-effect/testkit/flow"

const month = Bill.Month.make

/** Creates and ends an Assembly with one upload and one result. If `moved` is undefined, the Assembly is canceled. */
const end = Effect.fnUntraced(function* (
  workspace: string,
  moved: readonly [input: number, output: number] | undefined
) {
  const assemblies = yield* AssemblyStore.make
  const assembly = yield* newAssembly(workspace)
  const { id } = assembly
  yield* assemblies.insert(assembly)
  yield* assemblies.beginExecution(id)
  if (moved === undefined) return yield* assemblies.stop(id, "canceled")
  const [input, output] = moved
  return yield* assemblies.end(id, {
    uploads: [{ id: "upload", size: input }],
    results: { made: [{ id: "result", size: output }] },
    failure: undefined,
    usage: { "/file/hash": { steps: 1, input_bytes: input, output_bytes: output } }
  })
})

const find = (workspace: string, of: string) =>
  Effect.flatMap(Bills.make, (bills) => bills.find(workspace, month(of))).pipe(Effect.map(Option.getOrUndefined))

const months = ["2026-01", "2026-02", "2026-03"] as const

const Bytes = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e12 }))
const Ended = Schema.Struct({
  workspace: Schema.Literals(["north", "south"]),
  month: Schema.Literals(months),
  moved: Schema.UndefinedOr(Schema.Tuple([Bytes, Bytes]))
})

describe("A bill", () => {
  it.effect("has an Assembly that was canceled, which moved nothing", layerAssemblies, function* () {
    yield* TestClock.setTime(DateTime.makeUnsafe("2026-02-28T12:00:00Z").epochMilliseconds)
    yield* end("north", undefined)
    assert.deepInclude(yield* find("north", "2026-02"), { assemblies: 1, total: 0, robots: {} })
  })

  it.effect.prop(
    "is the sum of what its Assemblies moved, in whole microdollars",
    [Schema.Array(Ended).check(Schema.isMaxLength(20))],
    ([all]) =>
      Effect.gen(function* () {
        for (const [index, { month: of, moved, workspace }] of all.entries()) {
          yield* TestClock.setTime(DateTime.makeUnsafe(`${of}-01T00:00:00Z`).epochMilliseconds + index)
          yield* end(workspace, moved)
        }
        for (const workspace of ["north", "south"]) {
          for (const of of months) {
            const ended = all.filter((one) => one.workspace === workspace && one.month === of)
            const bill = yield* find(workspace, of)
            if (ended.length === 0) {
              assert.isUndefined(bill)
              continue
            }
            const bytes = ended.reduce((sum, { moved = [0, 0] }) => sum + BigInt(moved[0]) + BigInt(moved[1]), 0n)
            const digits = ((bytes + 999n) / 1000n).toString().padStart(7, "0")
            const exact = `${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, "")
            assert.deepInclude(bill, { assemblies: ended.length, credit: 0, currency: "USD" })
            // The JSON text has the exact decimal number, without a rounding error.
            assert.strictEqual(JSON.stringify(bill?.total), exact)
            assert.strictEqual(bill?.sub_total, bill?.total)
          }
        }
      }).pipe(Effect.provide(Layer.fresh(layerAssemblies))),
    { arbitrary: { runs: 30 } }
  )
})

describe("GET /bill/:month", () => {
  // The emulator and the client share the clock of the test.
  it.effect("answers the bills of this month and of earlier ones", function* () {
    yield* TestClock.setTime(DateTime.makeUnsafe("2026-01-31T23:59:00Z").epochMilliseconds)
    yield* Effect.gen(function* () {
      const first = yield* uploadOne({ steps: storeAt("a.txt") }, new Uint8Array(1500))
      const second = yield* uploadOne({ steps: { hashed: { robot: "/file/hash" } } }, new Uint8Array(700))
      const failed = yield* uploadOne({ steps: { fail: { robot: "/emulator/fail" } } }, new Uint8Array(100))
      assert.deepStrictEqual([first.bytes_usage, second.bytes_usage, failed.bytes_usage], [3000, 1400, 100])
      const january = {
        ok: "BILL_FOUND" as const,
        month: "2026-01",
        sub_total: 0.000005,
        credit: 0,
        total: 0.000005,
        currency: "USD",
        plan: { name: "emulator", price_per_gigabyte: 1 },
        assemblies: 3,
        bytes_in: 2300,
        bytes_out: 2200,
        robots: {
          "/file/hash": { steps: 1, bytes_in: 700, bytes_out: 700 },
          "/transloadit/store": { steps: 1, bytes_in: 1500, bytes_out: 1500 },
          "/upload/handle": { steps: 1, bytes_in: 1500, bytes_out: 1500 }
        }
      }
      const now = yield* Billing.get(month("2026-01"))
      assert.deepInclude(now, january)
      assert.notProperty(now, "invoice_id")
      const february = yield* Effect.flip(Billing.get(month("2026-02")))
      assert.deepInclude(february, { _tag: "BillNotFound", code: "BILL_NOT_FOUND", status: 200 })

      yield* TestClock.adjust("1 minute")
      yield* uploadOne({ steps: storeAt("b.txt") }, new Uint8Array(1))
      assert.deepInclude(yield* Billing.get(month("2026-01")), { ...january, invoice_id: "north-2026-01" })
      assert.deepInclude(yield* Billing.get(month("2026-02")), { total: 0.000001, assemblies: 1 })
      for (const empty of ["2025-12", "2026-03"]) {
        assert.strictEqual((yield* Effect.flip(Billing.get(month(empty))))._tag, "BillNotFound")
      }
      assert.strictEqual((yield* Effect.flip(as(south)(Billing.get(month("2026-01")))))._tag, "BillNotFound")
    }).pipe(Effect.provide(layerEmulator({ workspaces })))
  })

  it.live("refuses a month that breaks its rule", layerEmulator({ workspaces }), function* () {
    for (const invalid of ["2026-13", "2026-1", "26-01", "2026-01-01", "latest"]) {
      const answer = yield* call("GET", `/bill/${invalid}`, {})
      assert.deepInclude(json(answer), { error: "SERVER_400", http_code: 400 }, invalid)
      assert.include(answer.text, "YYYY-MM")
    }
  })
})
