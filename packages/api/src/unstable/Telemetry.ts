/** What the telemetry of operations and of uploads has in common. */
export { isTraced, outcomeOf, serverOf } from "../internal/telemetry.ts"
