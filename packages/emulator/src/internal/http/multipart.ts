import type * as Operation from "@assembly-effect/api/Operation"

/**
 * Returns an operation that also accepts a multipart body. The official client sends the params of every POST, PUT and
 * DELETE request in a multipart body. The client of `@assembly-effect/api` sends the params of most of these requests
 * in a urlencoded body.
 */
export const accepting = <Op extends Operation.Any>(operation: Op) => ({ ...operation, carrier: "multipart" as const })
