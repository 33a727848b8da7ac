import * as Effect from "effect/Effect"
import type { Robot } from "./robot.ts"

/** `/upload/handle`: returns the uploaded files. */
export const uploadHandle: Robot = { isSlow: false, run: ({ files }) => Effect.succeed(files) }
