/**
 * A tus server that nobody here wrote, behind a front that breaks answers on purpose, and the Status of one Assembly
 * with the receipts of its uploads.
 */
import { FileStore } from "@tus/file-store"
import { Server } from "@tus/server"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import * as Http from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Fault } from "./Fault.ts"

interface Uploaded {
  readonly id: string
  readonly size: number | undefined
  readonly metadata: Readonly<Record<string, string | null>>
}

export interface TusServer {
  readonly origin: string
  readonly tusUrl: string
  readonly assemblySslUrl: string
  /** Every request, as `METHOD status`, in the order of their ends. */
  readonly log: Array<string>
  /** The faults of the next requests by method; the first that fits is taken. */
  readonly faults: Array<Fault>
  readonly created: Array<Uploaded>
  /** Whether receipts are told. */
  receipts: boolean
  /** The checksum algorithms that are offered; none by default, the tus server knows no checksums. */
  checksums: ReadonlyArray<string>
  /** The largest body of one request, as a proxy in front of a server may limit it. */
  maxBody: number
  /** The sizes of the bodies whose checksum was right. */
  readonly verified: Array<number>
  /** The connections that are open. */
  readonly connections: () => number
  readonly sha256: (id: string) => Promise<string>
  readonly forget: (id: string) => void
  /** Requests that are neither answered nor left. */
  readonly busy: () => number
  readonly partials: () => number
}

const listen = (server: Http.Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)))

const close = (server: Http.Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

/** Reads the body of a request up to a point and then leaves it, so that the sender meets a wall. */
const takeFault = (faults: Array<Fault>, method: string): Fault | undefined => {
  const index = faults.findIndex((fault) => fault.method === method || fault.method === "*")
  return index === -1 ? undefined : faults.splice(index, 1)[0]
}

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

export const make = Effect.acquireRelease(
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
    const faults: Array<Fault> = []
    let busy = 0
    const state: Pick<TusServer, "receipts" | "checksums" | "maxBody"> = {
      receipts: true,
      checksums: [],
      maxBody: Infinity
    }
    const verified: Array<number> = []
    const connections = new Set<Socket>()

    const status = () => ({
      ok: "ASSEMBLY_UPLOADING",
      assembly_id: "0".repeat(32),
      tus_uploads: state.receipts
        ? created.map((upload) => ({
            filename: upload.metadata["filename"],
            user_meta: upload.metadata,
            size: upload.size,
            finished: finished.has(upload.id),
            upload_url: `/resumable/files/${upload.id}`
          }))
        : []
    })

    /** Hands a request on to the tus server, and the answer back as the fault wants it. */
    const forward = (
      request: Http.IncomingMessage,
      response: Http.ServerResponse,
      fault: Fault | undefined,
      checked?: Buffer
    ) => {
      const upstream = Http.request({
        port: innerPort,
        host: "127.0.0.1",
        method: request.method,
        path: request.url,
        headers: request.headers,
        agent: false
      })
      upstream.on("error", () => {
        if (fault?._tag !== "Stall") response.destroy()
      })
      request.on("close", () => {
        if (!request.complete) upstream.destroy()
      })
      upstream.on("response", (inbound) => {
        log.push(`${request.method} ${inbound.statusCode}`)
        const headers = { ...inbound.headers }
        const body: Array<Buffer> = []
        inbound.on("data", (chunk: Buffer) => body.push(chunk))
        delete headers["transfer-encoding"]
        if (request.method === "OPTIONS" && state.checksums.length > 0) {
          headers["tus-extension"] = `${String(headers["tus-extension"])},checksum`
          headers["tus-checksum-algorithm"] = state.checksums.join(",")
        }
        inbound.on("end", () => {
          switch (fault?._tag) {
            case "LostAnswer":
              return void request.socket.destroy()
            case "StatusAfter":
              return answer(response, fault.status, fault.headers ?? {}, "broken\n")
            case "HalfAnswer":
              request.socket.write(`HTTP/1.1 ${inbound.statusCode} No Content\r\nTus-Resu`)
              return void request.socket.destroy()
            case "WrongOffset":
              headers["upload-offset"] = fault.offset
              break
            case "MissingOffset":
              delete headers["upload-offset"]
              break
            case "SlowAnswer":
              return void setTimeout(() => {
                response.writeHead(inbound.statusCode ?? 500, headers)
                response.end(Buffer.concat(body))
              }, fault.millis)
            default:
          }
          response.writeHead(inbound.statusCode ?? 500, headers)
          response.end(Buffer.concat(body))
        })
      })
      if (fault?._tag === "Cut") {
        let left = fault.bytes
        request.on("data", (chunk: Buffer) => {
          upstream.write(chunk.subarray(0, left))
          left -= chunk.length
          if (left <= 0) {
            request.pause()
            upstream.destroy()
            request.socket.destroy()
          }
        })
        request.on("end", () => upstream.end())
        return
      }
      if (fault?._tag === "Stall") {
        let left = fault.bytes
        request.on("data", (chunk: Buffer) => {
          upstream.write(chunk.subarray(0, Math.max(0, left)))
          left -= chunk.length
          if (left <= 0) {
            request.pause()
            // A paused request does not notice that its sender has left, and the server would hold its lock.
            upstream.destroy()
          }
        })
        return
      }
      if (checked === undefined) request.pipe(upstream)
      else upstream.end(checked)
    }

    /** What the checksum extension of tus 1.0.0 asks of a server. */
    const verify = async (
      request: Http.IncomingMessage,
      response: Http.ServerResponse,
      fault: Fault | undefined,
      checksum: string
    ) => {
      const body = await toBuffer(request)
      if (fault?._tag === "Corrupt") body[0] = (body[0] ?? 0) ^ 1
      if (isWhole(checksum, body)) {
        verified.push(body.length)
        return forward(request, response, fault, body)
      }
      log.push(`${request.method} 460`)
      answer(response, 460, {}, "ERR_CHECKSUM_MISMATCH: these are other bytes\n")
    }

    /** The final creation, which the tus server does not know: the parts in the order of their URLs. */
    const concatenate = async (
      request: Http.IncomingMessage,
      response: Http.ServerResponse,
      fault: Fault | undefined
    ) => {
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
      if (fault?._tag === "LostAnswer") return void request.socket.destroy()
      answer(response, 201, { location: `/resumable/files/${id}` })
    }

    const front = Http.createServer((request, response) => {
      const { method = "" } = request
      if (request.url?.startsWith("/assemblies/") === true) {
        response.writeHead(200, { "content-type": "application/json" })
        return void response.end(JSON.stringify(status()))
      }
      const isFinal = String(request.headers["upload-concat"]).startsWith("final;")
      const fault = takeFault(faults, isFinal ? "FINAL" : method)
      if (fault?._tag === "Status") {
        request.resume()
        log.push(`${method} ${fault.status}`)
        return answer(response, fault.status, fault.headers ?? {}, "ERR_FAULT: on purpose\n")
      }
      if (fault?._tag === "NoAnswer") return
      const concat = request.headers["upload-concat"]
      if (concat === "partial") {
        delete request.headers["upload-concat"]
        partials++
      } else if (concat !== undefined) return void concatenate(request, response, fault)
      const id = request.url?.split("/").at(-1) ?? ""
      if (gone.has(id)) {
        request.resume()
        log.push(`${method} 404`)
        return answer(response, 404, {}, "ERR_UPLOAD_NOT_FOUND: gone\n")
      }
      if (Number(request.headers["content-length"] ?? 0) > state.maxBody) {
        request.resume()
        log.push(`${method} 413`)
        return answer(response, 413, { connection: "close" }, "too large\n")
      }
      const checksum = request.headers["upload-checksum"]
      if (typeof checksum === "string") return void verify(request, response, fault, checksum)
      forward(request, response, fault)
    })
    front.on("request", (_, response: Http.ServerResponse) => {
      busy++
      response.on("close", () => busy--)
    })
    front.on("connection", (socket) => {
      connections.add(socket)
      socket.on("error", () => undefined)
      socket.on("close", () => connections.delete(socket))
    })
    const port = await listen(front)
    const origin = `http://127.0.0.1:${port}`
    const server: TusServer = Object.assign(state, {
      origin,
      tusUrl: `${origin}/resumable/files`,
      assemblySslUrl: `${origin}/assemblies/${"0".repeat(32)}`,
      log,
      faults,
      created,
      verified,
      connections: () => connections.size,
      sha256: async (id: string) => sha256(finals.get(id) ?? (await readFile(join(directory, id)))),
      partials: () => partials,
      forget: (id: string) => void gone.add(id),
      busy: () => busy
    })
    return {
      server,
      end: () => Promise.all([close(front), close(inner)]).then(() => rm(directory, { recursive: true }))
    }
  }),
  ({ end }) => Effect.promise(end)
).pipe(Effect.map(({ server }) => server))

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")
