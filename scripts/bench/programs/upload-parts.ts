/**
 * Uploads a file whenever the parent process asks, and reports the time of the upload in seconds. Arguments: the side,
 * the origin of the server, the path and the size of the file.
 */
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Harness from "../harness.ts"
import * as Side from "../side.ts"
import * as Uploads from "../uploads.ts"

const [side, origin = "", path = "", size = ""] = process.argv.slice(2)

const sides: Readonly<Record<string, Effect.Effect<unknown, Harness.BenchError, Uploads.Services>>> = {
  ours: Uploads.ours(origin, path, { parallel: 4 }),
  foreign: Uploads.withForeign(Uploads.ours(origin, path, { parallel: 4 })),
  single: Uploads.ours(origin, path),
  tus: Uploads.theirs(origin, path, Number(size), { parallelUploads: 4 })
}

const upload = sides[side ?? ""] ?? Effect.die(new Error(`unknown side ${side}`))

const runtime = ManagedRuntime.make(Uploads.node)
Side.answer(() => runtime.runPromise(Harness.seconds(upload)))
