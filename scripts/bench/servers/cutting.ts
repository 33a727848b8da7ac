/**
 * A tus server in a separate process that cuts the connection five times, each time within the body of a request. It
 * stores no bytes, but computes their SHA-256. `GET /report` returns this hash and the number of cuts. `CUT_EVERY` is
 * the number of bytes between two cuts.
 */
import { createHash } from "node:crypto"
import { createServer, type ServerResponse } from "node:http"
import * as Link from "./link.ts"

const cuts = 5
const every = Number(process.env["CUT_EVERY"])

let hash = createHash("sha256")
let offset = 0
let length: number | undefined
let done = 0

const respond = (response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}) =>
  response.writeHead(status, { "tus-resumable": "1.0.0", "upload-offset": String(offset), ...headers }).end()

const server = createServer({ requestTimeout: 0, highWaterMark: 1024 * 1024 }, (request, response) => {
  const declared = request.headers["upload-length"]
  if (request.method === "POST") length = undefined
  if (declared !== undefined) length = Number(declared)
  const known = length === undefined ? undefined : { "upload-length": String(length) }
  request.on("error", () => undefined)
  switch (request.method) {
    case "POST":
      hash = createHash("sha256")
      offset = 0
      done = 0
      return request.resume().on("end", () => respond(response, 201, { location: "/resumable/files/1" }))
    case "PATCH":
      request.on("data", (piece: Buffer) => {
        if (request.destroyed) return
        hash.update(piece)
        offset += piece.length
        if (done === cuts || offset < (done + 1) * every) return
        done++
        request.destroy()
      })
      return request.on("end", () => respond(response, 204))
    case "GET":
      return response.end(JSON.stringify({ sha256: hash.copy().digest("hex"), cuts: done, offset, length }))
    default:
      return respond(response, request.method === "HEAD" ? 200 : 204, known)
  }
})

Link.listen(server)
