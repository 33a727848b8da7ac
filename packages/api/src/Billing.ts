/**
 * The bill of a month. The specification names the operation, but does not define it.
 *
 * The index does not export this module: `import * as Billing from "@assembly-effect/api/Billing"`.
 */
export { Get, get } from "./internal/billing/get.ts"
