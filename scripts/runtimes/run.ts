/**
 * Runs the rows of the table. Each row has a separate service.
 */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as Content from "./content.ts"
import * as Front from "./front.ts"
import * as Launch from "./launch.ts"
import type { Outcome, Row } from "./rows.ts"

const sha256 = (blocks: number): string => {
  const hash = createHash("sha256")
  for (let index = 0; index < blocks; index++) hash.update(Content.block(index))
  return hash.digest("hex")
}

/** Runs a row with uploads of `blocks` MiB, and returns the outcome. */
export const run = (row: Row, blocks: number): Promise<Outcome> =>
  Effect.gen(function* () {
    const isDirect = row.protocol === "direct"
    const front = yield* Front.make({
      protocol: row.protocol === "direct" ? "HTTP/1.1" : row.protocol,
      isDirect,
      page: isDirect ? "" : yield* Effect.promise(() => Launch.bundle("page")),
      blocks,
      sha256: sha256(blocks)
    })
    return yield* Effect.promise(() => row.run(front, process.env))
  }).pipe(Effect.scoped, Effect.runPromise)
