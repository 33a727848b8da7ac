import type * as Operation from "@assembly-effect/api/Operation"

/**
 * Returns an operation that also accepts a multipart body. The official client sends the params of every request except
 * GET in a multipart body; the client of `@assembly-effect/api` sends the params of some requests in a urlencoded body.
 */
export const accepting = <Op extends Operation.Any>(operation: Op) => ({ ...operation, carrier: "multipart" as const })
