/**
 * Runs the program on a runtime, with a separate service for each run.
 */
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import * as Checks from "./checks.ts"
import * as Content from "./content.ts"
import * as Front from "./front.ts"
import * as Launch from "./launch.ts"
import type { Row } from "./rows.ts"

const sha256 = (blocks: number): string => {
  const hash = createHash("sha256")
  for (let index = 0; index < blocks; index++) hash.update(Content.block(index))
  return hash.digest("hex")
}

/** Runs a row with uploads of `blocks` MiB. Returns the failed checks, or undefined if the runtime is not here. */
export const run = (row: Row, blocks: number): Promise<ReadonlyArray<string> | undefined> =>
  Effect.gen(function* () {
    const isDirect = row.protocol === "direct"
    const front = yield* Front.make({
      protocol: row.protocol === "direct" ? "HTTP/1.1" : row.protocol,
      isDirect,
      page: isDirect ? "" : yield* Effect.promise(() => Launch.bundle("page")),
      blocks,
      sha256: sha256(blocks)
    })
    const report = yield* Effect.promise(() => row.run(front))
    return (
      report &&
      Checks.names
        .filter((name) => report[name] !== null)
        .map((name) => `${name}: ${report[name] ?? "it did not report"}`)
    )
  }).pipe(Effect.scoped, Effect.runPromise)
