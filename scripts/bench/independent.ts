/** `@tus/server` with `@tus/file-store` in this process, as in its documentation. */
import { FileStore } from "@tus/file-store"
import { Server } from "@tus/server"
import * as Effect from "effect/Effect"
import { mkdir, mkdtemp, rm } from "node:fs/promises"
import { createServer, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Harness from "./harness.ts"

interface Running {
  readonly origin: string
  readonly folder: string
  readonly http: HttpServer
}

const start = async (): Promise<Running> => {
  const folder = await mkdtemp(join(tmpdir(), "bench-"))
  const directory = join(folder, "files")
  await mkdir(directory)
  const tus = new Server({ path: "/resumable/files", datastore: new FileStore({ directory }) })
  const http = createServer((request, response) => void tus.handle(request, response))
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  return { origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, folder, http }
}

const stop = async ({ folder, http }: Running): Promise<void> => {
  http.closeAllConnections()
  await new Promise((resolve) => http.close(resolve))
  await rm(folder, { recursive: true, force: true })
}

/** A server that ends with the scope. */
export const server = Effect.acquireRelease(
  Harness.attempt(() => start()),
  (running) => Effect.promise(() => stop(running))
)
