import * as Effect from "effect/Effect"
import type { Robot } from "./robot.ts"

/** `/upload/handle`: returns its input files. Without a `use`, these are the uploads. */
export const uploadHandle: Robot = { isSlow: false, run: ({ files }) => Effect.succeed(files) }
