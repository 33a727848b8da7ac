/** `@tus/server` with `@tus/file-store` in this process, as in its documentation. */
import { FileStore } from "@tus/file-store"
import { Server } from "@tus/server"
import * as Effect from "effect/Effect"
import { mkdir } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import * as Harness from "./harness.ts"

/** The origin of a server that ends with the scope. */
export const server = Effect.gen(function* () {
  const directory = join(yield* Harness.folder, "files")
  yield* Harness.attempt(() => mkdir(directory))
  const tus = new Server({ path: "/resumable/files", datastore: new FileStore({ directory }) })
  const http = yield* Effect.acquireRelease(
    Effect.sync(() => createServer((request, response) => void tus.handle(request, response))),
    (running) =>
      Effect.promise(() => {
        running.closeAllConnections()
        return new Promise((resolve) => running.close(resolve))
      })
  )
  yield* Harness.attempt(() => new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve)))
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
})
