/** `@tus/server` with `@tus/file-store` in this process, as in its documentation. */
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import { FileStore } from "@tus/file-store"
import { Server } from "@tus/server"
import * as Effect from "effect/Effect"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import * as Harness from "./harness.ts"

/** The origin of a server that ends with the scope. */
export const server = Effect.gen(function* () {
  const directory = join(yield* Harness.folder, "files")
  yield* Harness.attempt(() => mkdir(directory))
  const tus = new Server({ path: "/resumable/files", datastore: new FileStore({ directory }) })
  return yield* Loopback.serve((request, response) => tus.handle(request, response))
})
