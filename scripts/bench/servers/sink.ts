/**
 * A tus server in a separate process that counts bytes and stores none, behind the link of `link.ts`. With `CUT_EVERY`,
 * it cuts the connection of each upload five times, after so many bytes each, and computes the SHA-256 of what arrives;
 * `GET /report` returns that of the last upload.
 */
import { createHash, type Hash } from "node:crypto"
import { createServer } from "node:http"
import * as Link from "./link.ts"

interface Upload {
  length: number | undefined
  offset: number
  /** Whether a complete upload is kept: this is true for parts and for final uploads. */
  readonly kept: boolean
  cuts: number
  readonly hash: Hash | undefined
}

const most = 5
const every = Number(process.env["CUT_EVERY"] ?? Infinity)

const idOf = (url: string | undefined) => url?.split("/").at(-1) ?? ""

const make = (length: number | undefined, kept: boolean, offset = 0): Upload => ({
  length,
  offset,
  kept,
  cuts: 0,
  hash: every === Infinity ? undefined : createHash("sha256")
})

const uploads = new Map<string, Upload>()
let next = 0
let last = make(undefined, false)

const tus = { "tus-resumable": "1.0.0", "x-content-type-options": "nosniff" }

const offered = {
  "tus-version": "1.0.0",
  "tus-extension": "creation,creation-with-upload,creation-defer-length,concatenation,termination"
}

const server = createServer({ requestTimeout: 0, highWaterMark: 1024 * 1024 }, (request, response) => {
  const id = idOf(request.url)
  const upload = uploads.get(id)
  const receive = (into: Upload, status: number, headers: Record<string, string>) => {
    request.on("error", () => undefined)
    request.on("data", (piece: Buffer) => {
      if (request.destroyed) return
      into.hash?.update(piece)
      into.offset += piece.length
      if (into.cuts === most || into.offset < (into.cuts + 1) * every) return
      into.cuts++
      request.destroy()
    })
    request.on("end", () => {
      const { offset } = into
      if (into.offset === into.length && !into.kept) uploads.delete(id)
      response.writeHead(status, { ...tus, ...headers, "upload-offset": String(offset) }).end()
    })
  }
  switch (request.method) {
    case "POST": {
      const length = request.headers["upload-length"]
      const [kind = "", parts = ""] = String(request.headers["upload-concat"] ?? "").split(";")
      const whole = parts.split(" ").reduce((sum, url) => sum + (uploads.get(idOf(url))?.length ?? 0), 0)
      const name = String(next++)
      last =
        kind === "final"
          ? make(whole, true, whole)
          : make(length === undefined ? undefined : Number(length), kind === "partial")
      uploads.set(name, last)
      // The same response as tusd.
      return receive(last, 201, { location: `/resumable/files/${name}`, "content-length": "0" })
    }
    case "HEAD": {
      const known = upload?.length === undefined ? undefined : { "upload-length": String(upload.length) }
      return void response.writeHead(200, { ...tus, "upload-offset": String(upload?.offset ?? 0), ...known }).end()
    }
    case "PATCH": {
      const length = request.headers["upload-length"]
      if (upload !== undefined && length !== undefined) upload.length = Number(length)
      return receive(upload ?? make(undefined, false), 204, {})
    }
    case "GET": {
      const { cuts, hash, length, offset } = last
      return void response.end(JSON.stringify({ sha256: hash?.copy().digest("hex"), cuts, offset, length }))
    }
    default:
      return void response.writeHead(204, { ...tus, ...offered }).end()
  }
})

Link.listen(server)
