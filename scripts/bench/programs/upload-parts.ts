/** One side of P5. Arguments: the side, the origin of the server, the path and the size of the file. */
import type * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import type { BenchError } from "../harness.ts"
import * as Side from "../side.ts"
import * as Uploads from "../uploads.ts"

const [side = "", origin = "", path = "", size = ""] = process.argv.slice(2)

const sides: Readonly<Record<string, Effect.Effect<unknown, BenchError, Uploads.Services>>> = {
  ours: Uploads.ours(origin, path, { parallel: 4 }),
  foreign: Uploads.withForeign(Uploads.ours(origin, path, { parallel: 4 })),
  single: Uploads.ours(origin, path),
  tus: Uploads.theirs(origin, path, Number(size), { parallelUploads: 4 })
}

Side.answer(
  Record.map(sides, (upload) => () => Side.effects(Uploads.node, upload, 1, 1)),
  side
)
