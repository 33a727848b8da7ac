/**
 * The bill of a month. Beyond the specification, which only names the operation.
 *
 * The index does not export this module: `import * as Billing from "@assembly-effect/api/Billing"`.
 */
export { Get, get } from "./internal/billing/get.ts"
