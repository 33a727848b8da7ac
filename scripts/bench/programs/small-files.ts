/** One side of P6. Arguments: the side, the origin of the server, the size of a file, and a folder of such files. */
import * as Effect from "effect/Effect"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { BenchError } from "../harness.ts"
import * as Side from "../side.ts"
import * as Uploads from "../uploads.ts"

const [side = "", origin = "", bytes, folder = ""] = process.argv.slice(2)
const paths = readdirSync(folder).map((name) => join(folder, name))
const target = await Effect.runPromise(Uploads.target(origin))

const sides: Readonly<Record<string, (path: string) => Effect.Effect<unknown, BenchError, Uploads.Services>>> = {
  ours: (path) => Uploads.oursTo(target, path),
  tus: (path) => Uploads.theirs(origin, path, Number(bytes), { isDuringCreation: true }),
  raw: (path) => Uploads.rawSmall(origin, path, Number(bytes))
}

let next = 0
const upload = Effect.suspend(() => sides[side]!(paths[next++ % paths.length]!))
Side.answer({ [side]: () => Side.effects(Uploads.node, upload, paths.length, 16) }, side)
