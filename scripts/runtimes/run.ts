/**
 * Runs the program on a runtime, with a separate service for each run.
 */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as Content from "./content.ts"
import * as Front from "./front.ts"
import * as Launch from "./launch.ts"
import type { Row } from "./rows.ts"

/** Runs a row with uploads of `blocks` MiB. Returns the failed checks, or undefined if the runtime is not here. */
export const run = (row: Row, blocks: number): Promise<ReadonlyArray<string> | undefined> =>
  Effect.gen(function* () {
    const isDirect = row.protocol === "direct"
    const front = yield* Front.make({
      protocol: row.protocol === "direct" ? "HTTP/1.1" : row.protocol,
      isDirect,
      page: isDirect ? "" : yield* Effect.promise(() => Launch.bundle("page")),
      blocks,
      sha256: createHash("sha256").update(Content.whole(blocks)).digest("hex")
    })
    const report = yield* Effect.promise(() => row.run(front))
    return (
      report && Object.entries(report).flatMap(([name, problem]) => (problem === null ? [] : [`${name}: ${problem}`]))
    )
  }).pipe(Effect.scoped, Effect.runPromise)
