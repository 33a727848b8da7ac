/**
 * The part of the service that a job with one file needs, in memory: the creation of an Assembly, with the file in its
 * form or as a tus upload, and its Status. An Assembly completes with its file.
 */
import { createHash } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { buffer } from "node:stream/consumers"
import * as Link from "./link.ts"

interface Upload {
  readonly assembly: string
  readonly name: string
  readonly length: number
  readonly pieces: Array<Buffer>
}

interface File {
  readonly name: string
  readonly bytes: Buffer
}

/** The file of each Assembly, or undefined until it has arrived. */
const assemblies = new Map<string, File | undefined>()
const uploads = new Map<string, Upload>()
let next = 0

const tus = { "tus-resumable": "1.0.0", "x-content-type-options": "nosniff" }

/** The file in a form, if it has one. */
const fileIn = (body: Buffer, contentType: string): File | undefined => {
  const boundary = /boundary="?([^";]+)/.exec(contentType)?.[1] ?? ""
  const at = body.indexOf("filename=")
  if (at === -1) return undefined
  const start = body.indexOf("\r\n\r\n", at) + 4
  const name = /filename="([^"]*)"/.exec(body.toString("latin1", at, start))?.[1] ?? ""
  return { name, bytes: body.subarray(start, body.indexOf(`\r\n--${boundary}`, start)) }
}

/** All fields that the official client expects of a file. */
const describe = (id: string, { bytes, name }: File) => {
  const md5hash = createHash("md5").update(bytes).digest("hex")
  const url = `https://files.example.com/${id}`
  const names = { name, basename: "a", ext: "bin", mime: "application/octet-stream", type: "application" }
  const original = { original_id: id, original_basename: "a", original_name: name, original_path: "/" }
  const origin = { original_md5hash: md5hash, from_batch_import: false, is_tus_file: false, tus_upload_url: url }
  return {
    id,
    ...names,
    ...original,
    ...origin,
    field: "file",
    size: bytes.length,
    md5hash,
    url,
    ssl_url: url,
    meta: {}
  }
}

const statusOf = (id: string, host: string): string => {
  const file = assemblies.get(id)
  const url = `http://${host}/assemblies/${id}`
  return JSON.stringify({
    ok: file === undefined ? "ASSEMBLY_UPLOADING" : "ASSEMBLY_COMPLETED",
    assembly_id: id,
    assembly_url: url,
    assembly_ssl_url: url,
    tus_url: `http://${host}/resumable/files/`,
    uploads: file === undefined ? [] : [describe(id, file)],
    results: {}
  })
}

const answer = (response: ServerResponse, id: string, host: string) => {
  const body = statusOf(id, host)
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) }).end(body)
}

const metadata = (header: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    header.split(",").map((pair) => {
      const [key = "", value = ""] = pair.trim().split(" ")
      return [key, Buffer.from(value, "base64").toString()]
    })
  )

/** Adds bytes to an upload, and returns its offset. The last byte completes the Assembly. */
const append = (upload: Upload, bytes: Buffer): number => {
  upload.pieces.push(bytes)
  const offset = upload.pieces.reduce((sum, { length }) => sum + length, 0)
  if (offset === upload.length)
    assemblies.set(upload.assembly, { name: upload.name, bytes: Buffer.concat(upload.pieces) })
  return offset
}

const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { headers, method } = request
  const [url = ""] = request.url?.split("?") ?? []
  const host = headers.host ?? ""
  const id = url.split("/").at(-1) ?? ""
  if (url.startsWith("/assemblies")) {
    if (method !== "POST") return answer(response, id, host)
    const chosen = id === "assemblies" ? (next++).toString(16).padStart(32, "0") : id
    assemblies.set(chosen, fileIn(await buffer(request), headers["content-type"] ?? ""))
    return answer(response, chosen, host)
  }
  if (method === "POST") {
    const { assembly_url = "", filename: name = "" } = metadata(String(headers["upload-metadata"]))
    const assembly = assembly_url.split("/").at(-1) ?? ""
    const upload = { assembly, name, length: Number(headers["upload-length"]), pieces: [] }
    const location = `http://${host}/resumable/files/${next}`
    uploads.set(String(next++), upload)
    const offset = String(append(upload, await buffer(request)))
    return void response.writeHead(201, { ...tus, location, "upload-offset": offset, "content-length": "0" }).end()
  }
  const upload = uploads.get(id)
  if (upload === undefined || method !== "PATCH") return void response.writeHead(404, tus).end()
  const offset = String(append(upload, await buffer(request)))
  response.writeHead(204, { ...tus, "upload-offset": offset }).end()
}

Link.listen(createServer((request, response) => void handle(request, response)))
