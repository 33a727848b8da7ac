import * as Effect from "effect/Effect"
import type { Robot } from "./robot.ts"

/** `/upload/handle`: passes on what was uploaded. */
export const uploadHandle: Robot = { isSlow: false, run: ({ files }) => Effect.succeed(files) }
