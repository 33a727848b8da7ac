/**
 * An independent tus server, with the features that it lacks: concatenation, checksums, and the Status of an Assembly
 * with the receipts of its uploads. Clients reach it through a proxy that injects faults.
 */
import { FileStore } from "@tus/file-store"
import { Server } from "@tus/server"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import * as Http from "node:http"
import { join } from "node:path"
import { buffer } from "node:stream/consumers"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Kills from "./Kills.ts"
import * as TcpProxy from "./TcpProxy.ts"

interface Uploaded {
  readonly id: string
  readonly size: number | undefined
  readonly metadata: Readonly<Record<string, string | null>>
}

/** The receipt of an upload, which is finished if its offset is its size. */
export const receiptOf = (id: string, metadata: Uploaded["metadata"], size: number | null, offset: number | null) => ({
  filename: metadata["filename"] ?? null,
  fieldname: metadata["fieldname"] ?? null,
  user_meta: metadata,
  size,
  offset,
  finished: size === offset && size !== null,
  upload_url: `/resumable/files/${id}`
})

/** A receipt of an upload, as in the Status. */
export type Receipt = ReturnType<typeof receiptOf>

/** The Status of an Assembly with these receipts. */
export const statusOf = (receipts: ReadonlyArray<Partial<Receipt>>, assemblyId = "0".repeat(32)) =>
  JSON.stringify({ ok: "ASSEMBLY_UPLOADING", assembly_id: assemblyId, tus_uploads: receipts })

export type TusServer = Effect.Success<typeof make>

// The folder of a store is there. It would make it, unawaited: under load it did so when the test was over and the folder
// gone, and then threw where nobody catches it.
FileStore.prototype["checkOrCreateDirectory"] = () => undefined

const answer = (response: Http.ServerResponse, status: number, headers: Http.OutgoingHttpHeaders, body = "") =>
  response.writeHead(status, { "tus-resumable": "1.0.0", ...headers }).end(body)

/** The largest upload that the server accepts, in bytes. */
const maxSize = 1024 ** 3

/** The values of the header `upload-metadata`. */
export const metadataOf = (header: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    header
      .split(",")
      .map((entry) => entry.split(" "))
      .map(([key = "", value = ""]) => [key, Buffer.from(value, "base64").toString()])
  )

const isWhole = (checksum: string, body: Buffer): boolean => {
  const [algorithm = "", digest = ""] = checksum.split(" ")
  return createHash(algorithm).update(body).digest("base64") === digest
}

export const make = Effect.gen(function* () {
  const directory = yield* Kills.folder
  const created: Array<Uploaded> = []
  const gone = new Set<string>()
  const finished = new Map<string, number | undefined>()
  const finals = new Map<string, Buffer>()
  let partials = 0
  const tus = new Server({
    path: "/resumable/files",
    maxSize,
    // Its timer would look like a timer that a client has left.
    lockDrainTimeout: 100,
    datastore: new FileStore({ directory }),
    onUploadCreate: async (_, upload) => {
      created.push({ id: upload.id, size: upload.size, metadata: upload.metadata ?? {} })
      return {}
    },
    onUploadFinish: async (_, upload) => {
      finished.set(upload.id, upload.size)
      return {}
    }
  })
  const inner = Http.createServer((request, response) => void tus.handle(request, response))
  const innerPort = yield* Loopback.listen(inner)
  const log: Array<string> = []
  /** What a test may change. */
  const state = {
    /** Whether the Status contains receipts. */
    receipts: true,
    /** The value in the Status that replaces its receipts. */
    retell: (receipts: ReadonlyArray<Receipt>): ReadonlyArray<Partial<Receipt>> => receipts,
    /** The `assembly_id` of the Status. */
    assemblyId: "0".repeat(32),
    /** The supported checksum algorithms; none by default, because the tus server has no checksums. */
    checksums: new Array<string>() as ReadonlyArray<string>
  }
  const verified: Array<number> = []

  const status = () => {
    const receipts = created.map(({ id, metadata, size }) => {
      const length = size ?? finished.get(id) ?? null
      return receiptOf(id, metadata, length, finished.has(id) ? length : 0)
    })
    return statusOf(state.receipts ? state.retell(receipts) : [], state.assemblyId)
  }

  /** Forwards a request to the tus server, and returns the response. */
  const forward = (request: Http.IncomingMessage, response: Http.ServerResponse, checked?: Buffer) => {
    const { headers: asked, method, url: path } = request
    const upstream = Http.request({ agent: false, headers: asked, host: "127.0.0.1", method, path, port: innerPort })
    upstream.on("error", () => response.destroy())
    request.on("close", () => {
      // What came before the connection broke is stored.
      if (!request.complete) upstream.socket?.destroySoon()
    })
    upstream.on("response", (inbound) => {
      log.push(`${method} ${inbound.statusCode}`)
      const headers = { ...inbound.headers }
      if (method === "OPTIONS") {
        headers["tus-extension"] = `${String(headers["tus-extension"])},concatenation`
        if (state.checksums.length > 0) {
          headers["tus-extension"] += ",checksum"
          headers["tus-checksum-algorithm"] = state.checksums.join(",")
        }
      }
      response.writeHead(inbound.statusCode ?? 500, headers)
      inbound.pipe(response)
    })
    if (checked === undefined) request.pipe(upstream)
    else upstream.end(checked)
  }

  /** Implements the checksum extension of tus 1.0.0. */
  const verify = async (request: Http.IncomingMessage, response: Http.ServerResponse, checksum: string) => {
    const body = await buffer(request)
    if (isWhole(checksum, body)) {
      verified.push(body.length)
      return forward(request, response, body)
    }
    log.push(`${request.method} 460`)
    answer(response, 460, {}, "ERR_CHECKSUM_MISMATCH: these are other bytes\n")
  }

  /** Implements the concatenation, which the tus server lacks: joins the parts in the order of their URLs. */
  const concatenate = async (request: Http.IncomingMessage, response: Http.ServerResponse) => {
    const ids = String(request.headers["upload-concat"])
      .replace("final;", "")
      .split(" ")
      .map((url) => url.split("/").at(-1) ?? "")
    const id = `final-${finals.size}`
    finals.set(id, Buffer.concat(await Promise.all(ids.map((part) => readFile(join(directory, part))))))
    const metadata = metadataOf(String(request.headers["upload-metadata"]))
    finished.set(id, finals.get(id)?.length)
    created.push({ id, size: finals.get(id)?.length, metadata })
    log.push("FINAL 201")
    answer(response, 201, { location: `/resumable/files/${id}` })
  }

  const front = Http.createServer((request, response) => {
    const { method = "" } = request
    if (request.url?.startsWith("/assemblies/") === true) {
      response.writeHead(200, { "content-type": "application/json" })
      return void response.end(status())
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
    const final = finals.get(id)
    if (final !== undefined && method === "HEAD") {
      log.push("HEAD 200")
      const size = String(final.length)
      return answer(response, 200, { "upload-offset": size, "upload-length": size, "cache-control": "no-store" })
    }
    const checksum = request.headers["upload-checksum"]
    if (typeof checksum === "string") {
      // A body that breaks off is no request.
      return void verify(request, response, checksum).catch(() => response.destroy())
    }
    forward(request, response)
  })
  const { authority, ...way } = yield* TcpProxy.make(yield* Loopback.listen(front))
  const origin = `http://${authority}`
  return Object.assign(state, {
    ...way,
    origin,
    tusUrl: `${origin}/resumable/files`,
    assemblySslUrl: `${origin}/assemblies/${"0".repeat(32)}`,
    /** Every request, as `METHOD status`, in the order of their responses. */
    log,
    created,
    /** The sizes of the bodies with a correct checksum. */
    verified,
    sha256: async (id: string) => sha256(finals.get(id) ?? (await readFile(join(directory, id)))),
    partials: () => partials,
    forget: (id: string) => void gone.add(id)
  })
})

export const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")
