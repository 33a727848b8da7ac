/**
 * The bill of a month. Beyond the specification, which only names the operation.
 */
export { Get, get } from "./internal/billing/get.ts"
