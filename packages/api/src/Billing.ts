/**
 * The bill of a month. The operation is beyond the specification, which names it but does not define it.
 *
 * The index does not export this module: `import * as Billing from "@assembly-effect/api/Billing"`.
 */
export { Get, get } from "./internal/billing/get.ts"
