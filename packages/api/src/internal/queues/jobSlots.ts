import * as Queue from "@assembly-effect/schema/Queue"
import * as Input from "@assembly-effect/schema/unstable/Input"
import { AssemblyClient } from "../../AssemblyClient.ts"
import * as Operation from "../../Operation.ts"

/**
 * `GET /queues/job_slots`. The operation is beyond the specification, which names it but does not define it.
 *
 * @since 0.1.0
 * @category operations
 */
export const JobSlots = Operation.make({
  name: "Queues.jobSlots",
  method: "GET",
  path: "/queues/job_slots",
  variables: {},
  auth: "signed",
  scope: "queues:read",
  carrier: "query",
  nonceIn: "params",
  params: Input.nothing,
  fields: Input.nothing,
  answers: "result",
  success: Queue.JobSlots,
  errors: {},
  retry: "safe"
})

/**
 * Gets the priority job slots that are in use now.
 *
 * Beyond the specification.
 *
 * @example
 * Effect.map(Queues.jobSlots, ({ priority_job_slots }) => priority_job_slots.count)
 *
 * @since 0.1.0
 * @category operations
 */
export const jobSlots = AssemblyClient.use((client) => client.run(JobSlots, { path: {}, params: {}, fields: {} }))
