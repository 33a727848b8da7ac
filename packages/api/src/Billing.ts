/**
 * The bill of a month. The operation is beyond the specification, which only names it.
 *
 * The index does not export this module: `import * as Billing from "@assembly-effect/api/Billing"`.
 */
export { Get, get } from "./internal/billing/get.ts"
