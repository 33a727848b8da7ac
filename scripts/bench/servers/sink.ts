/** A tus server in a separate process that counts bytes and stores none, behind the link of `link.ts`. */
import { createServer } from "node:http"
import * as Link from "./link.ts"

interface Upload {
  length: number | undefined
  offset: number
  /** Whether a complete upload is kept: this is true for parts and for final uploads. */
  readonly kept: boolean
}

const idOf = (url: string | undefined) => url?.split("/").at(-1) ?? ""

const uploads = new Map<string, Upload>()
let next = 0

const tus = { "tus-resumable": "1.0.0", "x-content-type-options": "nosniff" }

const offered = {
  "tus-version": "1.0.0",
  "tus-extension": "creation,creation-with-upload,creation-defer-length,concatenation,termination"
}

const server = createServer({ requestTimeout: 0, highWaterMark: 1024 * 1024 }, (request, response) => {
  const id = idOf(request.url)
  const upload = uploads.get(id)
  const receive = (into: Upload, status: number, headers: Record<string, string>) => {
    request.on("data", (piece: Buffer) => {
      into.offset += piece.length
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
      const created: Upload =
        kind === "final"
          ? { length: whole, offset: whole, kept: true }
          : { length: length === undefined ? undefined : Number(length), offset: 0, kept: kind === "partial" }
      const name = String(next++)
      uploads.set(name, created)
      // The same response as tusd.
      return receive(created, 201, { location: `/resumable/files/${name}`, "content-length": "0" })
    }
    case "HEAD": {
      const known = upload?.length === undefined ? undefined : { "upload-length": String(upload.length) }
      return void response.writeHead(200, { ...tus, "upload-offset": String(upload?.offset ?? 0), ...known }).end()
    }
    case "PATCH": {
      const length = request.headers["upload-length"]
      if (upload !== undefined && length !== undefined) upload.length = Number(length)
      return receive(upload ?? { length: undefined, offset: 0, kept: false }, 204, {})
    }
    default:
      return void response.writeHead(204, { ...tus, ...offered }).end()
  }
})

Link.listen(server)
