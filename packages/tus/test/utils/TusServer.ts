/**
 * A tus server that nobody here wrote, with what it lacks: concatenation, checksums, and the Status of an Assembly with
 * the receipts of its uploads. Clients reach it through a proxy that breaks things on the way.
 */
import { FileStore } from "@tus/file-store"
import { Server } from "@tus/server"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as TcpProxy from "./TcpProxy.ts"

interface Uploaded {
  readonly id: string
  readonly size: number | undefined
  readonly metadata: Readonly<Record<string, string | null>>
}

export interface TusServer extends Omit<TcpProxy.TcpProxy, "authority"> {
  readonly origin: string
  readonly tusUrl: string
  readonly assemblySslUrl: string
  /** Every request, as `METHOD status`, in the order of their ends. */
  readonly log: Array<string>
  readonly created: Array<Uploaded>
  /** Whether receipts are told. */
  receipts: boolean
  /** What every receipt says instead of the truth. */
  receiptOf: { readonly size: number; readonly finished: boolean } | undefined
  /** The checksum algorithms that are offered; none by default, the tus server knows no checksums. */
  checksums: ReadonlyArray<string>
  /** The largest body of one request, as a proxy in front of a server may limit it. */
  maxBody: number
  /** The sizes of the bodies whose checksum was right. */
  readonly verified: Array<number>
  readonly sha256: (id: string) => Promise<string>
  readonly forget: (id: string) => void
  readonly partials: () => number
}

// The folder of a store is there. It would make it, unawaited: under load it did so when the test was over and the folder
// gone, and then threw where nobody catches it.
FileStore.prototype["checkOrCreateDirectory"] = () => undefined

const listen = (server: Http.Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)))

const close = (server: Http.Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

const answer = (response: Http.ServerResponse, status: number, headers: Http.OutgoingHttpHeaders, body = "") => {
  response.writeHead(status, { "tus-resumable": "1.0.0", ...headers })
  response.end(body)
}

/** The largest upload that the server takes, in bytes. */
export const maxSize = 1024 ** 3

const toBuffer = async (request: Http.IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const isWhole = (checksum: string, body: Buffer): boolean => {
  const [algorithm = "", digest = ""] = checksum.split(" ")
  return createHash(algorithm).update(body).digest("base64") === digest
}

const makeServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const directory = await mkdtemp(join(tmpdir(), "tus-"))
    const created: Array<Uploaded> = []
    const gone = new Set<string>()
    const finished = new Set<string>()
    const finals = new Map<string, Buffer>()
    let partials = 0
    const tus = new Server({
      path: "/resumable/files",
      maxSize,
      // Its timer would look like one that a client left.
      lockDrainTimeout: 100,
      datastore: new FileStore({ directory }),
      onUploadCreate: async (_, upload) => {
        created.push({ id: upload.id, size: upload.size, metadata: upload.metadata ?? {} })
        return {}
      },
      onUploadFinish: async (_, upload) => {
        finished.add(upload.id)
        return {}
      }
    })
    const inner = Http.createServer((request, response) => void tus.handle(request, response))
    const innerPort = await listen(inner)
    const log: Array<string> = []
    const state: Pick<TusServer, "receipts" | "receiptOf" | "checksums" | "maxBody"> = {
      receipts: true,
      receiptOf: undefined,
      checksums: [],
      maxBody: Infinity
    }
    const verified: Array<number> = []

    const status = () => ({
      ok: "ASSEMBLY_UPLOADING",
      assembly_id: "0".repeat(32),
      tus_uploads: state.receipts
        ? created.map((upload) => ({
            filename: upload.metadata["filename"],
            user_meta: upload.metadata,
            size: upload.size,
            finished: finished.has(upload.id),
            upload_url: `/resumable/files/${upload.id}`,
            ...state.receiptOf
          }))
        : []
    })

    /** Hands a request on to the tus server, and the answer back. */
    const forward = (request: Http.IncomingMessage, response: Http.ServerResponse, checked?: Buffer) => {
      const upstream = Http.request({
        port: innerPort,
        host: "127.0.0.1",
        method: request.method,
        path: request.url,
        headers: request.headers,
        agent: false
      })
      upstream.on("error", () => response.destroy())
      request.on("close", () => {
        // What came before the connection broke is stored.
        if (!request.complete) upstream.socket?.destroySoon()
      })
      upstream.on("response", (inbound) => {
        log.push(`${request.method} ${inbound.statusCode}`)
        const headers = { ...inbound.headers }
        if (request.method === "OPTIONS" && state.checksums.length > 0) {
          headers["tus-extension"] = `${String(headers["tus-extension"])},checksum`
          headers["tus-checksum-algorithm"] = state.checksums.join(",")
        }
        response.writeHead(inbound.statusCode ?? 500, headers)
        inbound.pipe(response)
      })
      if (checked === undefined) request.pipe(upstream)
      else upstream.end(checked)
    }

    /** What the checksum extension of tus 1.0.0 asks of a server. */
    const verify = async (request: Http.IncomingMessage, response: Http.ServerResponse, checksum: string) => {
      const body = await toBuffer(request)
      if (isWhole(checksum, body)) {
        verified.push(body.length)
        return forward(request, response, body)
      }
      log.push(`${request.method} 460`)
      answer(response, 460, {}, "ERR_CHECKSUM_MISMATCH: these are other bytes\n")
    }

    /** The final creation, which the tus server does not know: the parts in the order of their URLs. */
    const concatenate = async (request: Http.IncomingMessage, response: Http.ServerResponse) => {
      const ids = String(request.headers["upload-concat"])
        .replace("final;", "")
        .split(" ")
        .map((url) => url.split("/").at(-1) ?? "")
      const id = `final-${finals.size}`
      finals.set(id, Buffer.concat(await Promise.all(ids.map((part) => readFile(join(directory, part))))))
      const metadata = Object.fromEntries(
        String(request.headers["upload-metadata"])
          .split(",")
          .map((entry) => entry.split(" "))
          .map(([key = "", value = ""]) => [key, Buffer.from(value, "base64").toString()])
      )
      finished.add(id)
      created.push({ id, size: finals.get(id)?.length, metadata })
      log.push("FINAL 201")
      answer(response, 201, { location: `/resumable/files/${id}` })
    }

    const front = Http.createServer((request, response) => {
      const { method = "" } = request
      if (request.url?.startsWith("/assemblies/") === true) {
        response.writeHead(200, { "content-type": "application/json" })
        return void response.end(JSON.stringify(status()))
      }
      const concat = request.headers["upload-concat"]
      if (concat === "partial") {
        delete request.headers["upload-concat"]
        partials++
      } else if (concat !== undefined) return void concatenate(request, response)
      const id = request.url?.split("/").at(-1) ?? ""
      if (gone.has(id)) {
        request.resume()
        log.push(`${method} 404`)
        return answer(response, 404, {}, "ERR_UPLOAD_NOT_FOUND: gone\n")
      }
      if (Number(request.headers["content-length"] ?? 0) > state.maxBody) {
        request.resume()
        log.push(`${method} 413`)
        return answer(response, 413, {}, "too large\n")
      }
      const checksum = request.headers["upload-checksum"]
      if (typeof checksum === "string") return void verify(request, response, checksum)
      forward(request, response)
    })
    const port = await listen(front)
    const server = {
      state,
      log,
      created,
      verified,
      sha256: async (id: string) => sha256(finals.get(id) ?? (await readFile(join(directory, id)))),
      partials: () => partials,
      forget: (id: string) => void gone.add(id)
    }
    return {
      server,
      port,
      end: () => Promise.all([close(front), close(inner)]).then(() => rm(directory, { recursive: true }))
    }
  }),
  ({ end }) => Effect.promise(end)
)

export const make = Effect.gen(function* () {
  const { port, server } = yield* makeServer
  const { authority, ...way } = yield* TcpProxy.make(port)
  const { created, forget, log, partials, sha256, state, verified } = server
  const origin = `http://${authority}`
  return Object.assign(state, {
    ...way,
    origin,
    tusUrl: `${origin}/resumable/files`,
    assemblySslUrl: `${origin}/assemblies/${"0".repeat(32)}`,
    log,
    created,
    verified,
    sha256,
    partials,
    forget
  }) satisfies TusServer
})

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")
