import * as Operations from "@assembly-effect/api/Billing"
import type * as Bill from "@assembly-effect/schema/Bill"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as HttpRouter from "effect/http/HttpRouter"
import * as SqlClient from "effect/sql/SqlClient"
import * as Statement from "../data/statement.ts"
import * as Refusal from "../http/refusal.ts"
import * as Route from "../http/route.ts"
import * as Turns from "../http/turns.ts"

/**
 * The price list of the emulator: one US dollar for 10^9 bytes that Assemblies received or made, the same for each
 * robot. This price is one microdollar for 1000 bytes. The price of a whole month is rounded up to a microdollar. The
 * emulator never asks for money.
 */
const bytesPerMicrodollar = 1000

/**
 * The price of a number of bytes in dollars. The price has at most six decimals, because it is a whole number of
 * microdollars.
 */
const priceOf = (bytes: number): number => Math.ceil(bytes / bytesPerMicrodollar) / 1_000_000

const Month = Schema.Struct({ assemblies: Schema.Int, input_bytes: Schema.Int, output_bytes: Schema.Int })

const Robot = Schema.Struct({
  robot: Schema.String,
  steps: Schema.Int,
  input_bytes: Schema.Int,
  output_bytes: Schema.Int
})

const totals = Statement.rows(Month).one
const robots = Statement.rows(Robot).all

const toBill = (
  month: Bill.Month,
  { assemblies, input_bytes, output_bytes }: typeof Month.Type,
  used: ReadonlyArray<typeof Robot.Type>
): Bill.Bill => {
  const price = priceOf(input_bytes + output_bytes)
  return {
    ok: "BILL_FOUND",
    message: "The bill was found.",
    month,
    currency: "USD",
    sub_total: price,
    credit: 0,
    total: price,
    plan: { name: "emulator", price_per_gigabyte: priceOf(1e9) },
    assemblies,
    bytes_in: input_bytes,
    bytes_out: output_bytes,
    robots: Object.fromEntries(
      used.map(({ robot, steps, ...bytes }) => [
        robot,
        { steps, bytes_in: bytes.input_bytes, bytes_out: bytes.output_bytes }
      ])
    )
  }
}

/** The month of an instant in UTC. */
const monthOf = (instant: DateTime.Utc): string => DateTime.formatIso(instant).slice(0, 7)

/**
 * The bills of the Workspaces. The bill of a month contains the Assemblies that ended in that month (UTC), so the bill
 * of a month that is over never changes.
 */
export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return {
    /** The bill of a month, if an Assembly of the Workspace ended in that month. */
    find: Effect.fnUntraced(function* (workspace: string, month: Bill.Month) {
      const first = `${month}-01`
      const of = sql`
        FROM assemblies WHERE workspace = ${workspace}
          AND ended_at >= unixepoch(${first}) * 1000 AND ended_at < unixepoch(${first}, '+1 month') * 1000`
      const [moved, used] = yield* Effect.all([
        totals(sql`
          SELECT count(*) AS assemblies, coalesce(sum(input_bytes), 0) AS input_bytes,
            coalesce(sum(output_bytes), 0) AS output_bytes ${of}`),
        robots(sql`
          SELECT key AS robot, sum(value ->> 'steps') AS steps, sum(value ->> 'input_bytes') AS input_bytes,
            sum(value ->> 'output_bytes') AS output_bytes
          FROM (SELECT usage ${of}), json_each(usage) GROUP BY key ORDER BY key`)
      ]).pipe(sql.withTransaction, Statement.stored, Turns.take)
      if (moved.assemblies === 0) return Option.none()
      const isOver = month < monthOf(yield* DateTime.now)
      return Option.some<Bill.Bill>({
        ...toBill(month, moved, used),
        ...(isOver ? { invoice_id: `${workspace}-${month}` } : {})
      })
    })
  }
})

/** The service reports a missing bill with status 200 (beyond the specification). */
const notFound = Refusal.refuse("BILL_NOT_FOUND", 200, "No Assembly of the Workspace ended in this month.")

const routes = Effect.gen(function* () {
  const bills = yield* make

  return yield* Effect.all([
    Route.signed(Operations.Get, {
      // The operation has no error code for invalid input.
      code: "SERVER_400",
      handle: ({ authKey, path }) => Statement.orFail(notFound)(bills.find(authKey.workspace, path.month))
    })
  ])
})

/**
 * The route `/bill/:month`. The details of this route are beyond the specification, which names the operation but does
 * not define it.
 */
export const layer = HttpRouter.addAll(routes)
