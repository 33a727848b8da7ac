/**
 * Uploads a file whenever the parent process asks, and reports the time of the upload in seconds. Arguments: the side,
 * the origin of the server, the path and the size of the file.
 */
import * as Effect from "effect/Effect"
import * as Harness from "../harness.ts"
import * as Uploads from "../uploads.ts"

const [side, origin = "", path = "", size = ""] = process.argv.slice(2)

const sides: Readonly<Record<string, Effect.Effect<unknown, Harness.BenchError, Uploads.Services>>> = {
  ours: Uploads.ours(origin, path, { parallel: 4 }),
  foreign: Uploads.withForeign(Uploads.ours(origin, path, { parallel: 4 })),
  single: Uploads.ours(origin, path),
  tus: Uploads.theirs(origin, path, Number(size), { parallelUploads: 4 })
}

const asked = Effect.callback<void>((resume) => {
  process.once("message", () => resume(Effect.void))
})

const report = (message: unknown) => Effect.sync(() => process.send?.(message))

const upload = sides[side ?? ""] ?? Effect.die(new Error(`unknown side ${side}`))

const program = Effect.andThen(
  report("ready"),
  asked.pipe(Effect.andThen(Harness.seconds(upload)), Effect.flatMap(report), Effect.forever)
).pipe(Uploads.withNode)

Effect.runFork(program)
