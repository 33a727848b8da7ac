/**
 * Operations of priority job slots. These operations are beyond the specification, which names them but does not define
 * them.
 *
 * Each operation is a separate module, so that a bundle contains only the operations that a program calls.
 *
 * The index does not export this module: `import * as Queues from "@assembly-effect/api/Queues"`.
 */
export { JobSlots, jobSlots } from "./internal/queues/jobSlots.ts"
export { Statistics, statistics } from "./internal/queues/statistics.ts"
