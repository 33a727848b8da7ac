import * as Bill from "@assembly-effect/schema/Bill"
import * as Input from "@assembly-effect/schema/unstable/Input"
import * as ApiError from "../../ApiError.ts"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `GET /bill/:month`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const Get = Operation.make({
  name: "Billing.get",
  method: "GET",
  path: "/bill/:month",
  variables: { month: Bill.Month },
  auth: "signed",
  scope: "billing:read",
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: Bill.Bill,
  errors: { BILL_NOT_FOUND: ApiError.BillNotFound },
  retry: "safe"
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
export const get = (month: Bill.Month) =>
  AssemblyClient.use((client) => client.run(Get, { path: { month }, params: {}, fields: {} }))
