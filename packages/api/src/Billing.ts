/**
 * The bill of a month. The operation is beyond the specification, which names it but does not define it.
 *
 * The index does not export this module: `import * as Billing from "@assembly-effect/api/Billing"`.
 */
import * as Bill from "@assembly-effect/schema/Bill"
import * as ApiError from "./ApiError.ts"
import * as Operation from "./unstable/Operation.ts"

/**
 * `GET /bill/:month`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make("Billing.get", "GET /bill/:month", {
  variables: { month: Bill.Month },
  scope: "billing:read",
  success: Bill.Bill,
  errors: { BILL_NOT_FOUND: ApiError.BillNotFound }
})

/**
 * Gets the bill of a month.
 *
 * Beyond the specification.
 *
 * @example
 * Billing.get(Bill.Month.make("2026-01"))
 *
 * @since 0.1.0
 * @category operations
 */
export const get = (month: Bill.Month) => Operation.run(Get, { month }, {})
