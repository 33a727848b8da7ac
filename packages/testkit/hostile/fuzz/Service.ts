/**
 * The correct response to every request of the packages. The mutations change these responses.
 */
import * as Operations from "../../../api/test/utils/operations.ts"
import { type Answer, json, text } from "./Mutation.ts"

export const { assemblyId } = Operations

/** The parts of a request that determine its response. `bytes` is the body of a tus request. */
export interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly bytes: number
}

/** The size of the uploaded files in bytes. */
export const size = 600_000

const tus = { "tus-resumable": "1.0.0" }

const success = (name: string) => Operations.cases.find((one) => one.name === name)?.success

const metadataOf = (header: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    header.split(",").map((entry) => {
      const [key = "", value = ""] = entry.split(" ")
      return [key, Buffer.from(value, "base64").toString()]
    })
  )

/** A service with one Assembly and one upload at `origin`. `stored` is the initial number of stored bytes. */
export const make = (origin: string, stored = 0) => {
  let offset = stored
  let readings = 0
  let metadata = ""

  const status = (path: string, ok: string) => ({
    ok,
    assembly_id: path.split("/").at(-1),
    assembly_ssl_url: origin + path,
    tus_url: `${origin}/resumable/files`,
    update_stream_url: `${origin}/updates`,
    bytes_expected: size,
    uploads: [{ id: "a", name: "a.bin", size, meta: { width: 1 } }],
    results: { ":original": [{ id: "b", name: "a.bin", size, ssl_url: `${origin}/result` }] },
    tus_uploads: [
      {
        filename: "a.bin",
        fieldname: "file",
        user_meta: metadataOf(metadata),
        size,
        offset,
        finished: offset === size,
        upload_url: `${origin}/resumable/files/a`
      }
    ]
  })

  const toTus = ({ bytes, headers, method }: Request): Answer => {
    const at = { ...tus, "upload-offset": `${offset}` }
    switch (method) {
      case "OPTIONS":
        return text(204, "", { ...tus, "tus-version": "1.0.0", "tus-extension": "creation,termination,concatenation" })
      case "POST":
        offset = bytes
        metadata = headers["upload-metadata"] ?? ""
        return text(201, "", { ...tus, location: `${origin}/resumable/files/a`, "upload-offset": `${offset}` })
      case "HEAD":
        return text(200, "", { ...at, "upload-length": `${size}`, "upload-metadata": metadata })
      case "PATCH":
        offset = Number(headers["upload-offset"]) + bytes
        return text(204, "", { ...tus, "upload-offset": `${offset}` })
      case "GET":
        return text(200, "the bytes of the upload")
      default:
        return text(204, "", tus)
    }
  }

  return (request: Request): Answer => {
    const { method, path } = request
    if (path.startsWith("/resumable/files")) return toTus(request)
    if (path === "/updates") {
      return text(200, `event: a\ndata: ${JSON.stringify({ assembly_id: assemblyId })}\n\ndata: x\n\n`, {
        "content-type": "text/event-stream"
      })
    }
    if (path === "/token") return json(200, { access_token: "token-token-token", token_type: "Bearer", expires_in: 60 })
    if (path === "/assembly_stats") return json(200, success("Assemblies.statistics"))
    if (path === "/assemblies") return json(200, success("Assemblies.list"))
    if (path.startsWith("/dam/")) return json(200, success("Dam.move"))
    if (method === "DELETE") return json(200, status(path, "ASSEMBLY_CANCELED"))
    readings++
    // The Assembly completes after some requests, so that a client which waits for its end does not wait forever.
    return json(200, status(path, readings > 4 ? "ASSEMBLY_COMPLETED" : "ASSEMBLY_EXECUTING"))
  }
}
