import type * as Operation from "@assembly-effect/api/Operation"

/**
 * The operation with a body that may also be multipart. The official client sends all params in a multipart body, also
 * where our client sends a urlencoded body.
 */
export const accepting = <Op extends Operation.Any>(operation: Op) => ({ ...operation, carrier: "multipart" as const })
