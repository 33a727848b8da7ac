/**
 * A tus server in memory that a test can make lie: each request passes through `meet`, which may process, ignore or
 * hold it, and return any response.
 */
import type { UploadTarget } from "@assembly-effect/tus"
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import { buffer } from "node:stream/consumers"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"
import * as Scene from "./Scene.ts"
import { metadataOf, receiptOf, statusOf } from "./TusServer.ts"

/** `FINAL` is the concatenation, `GET` a request for the Assembly's Status. */
export interface Request {
  readonly method: "OPTIONS" | "POST" | "FINAL" | "PATCH" | "HEAD" | "DELETE" | "GET"
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
  /** The connection, by the port of the client. */
  readonly connection: number | undefined
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly body?: string | undefined
}

/**
 * `go` processes the request, by default with its whole body, and returns its response. A response with `cut` breaks
 * the connection.
 */
export type Meet = (request: Request, go: (body?: Buffer) => Answer) => Answer | "cut" | Promise<Answer | "cut">

interface Upload {
  readonly metadata: string
  length: number | undefined
  bytes: Buffer
}

export interface ScriptedTus {
  readonly target: UploadTarget.UploadTarget
  readonly origin: string
  readonly uploads: Map<string, Upload>
  /** The methods of the requests, in the order of their arrival. */
  readonly requests: ReadonlyArray<Request["method"]>
  meet: Meet
}

/** A server whose answers to requests of a kind are changed: once it has processed them, or instead of that. */
export const changing = (
  method: Request["method"],
  change: (answer: () => Answer, index: number) => Answer | "cut" | Promise<Answer | "cut">
) =>
  Effect.map(make, (server) => {
    let index = 0
    server.meet = (request, go) => (request.method === method ? change(go, index++) : go())
    return server
  })

/** An answer with other headers. */
export const withHeaders = (answer: Answer, headers: Readonly<Record<string, string>>): Answer => ({
  ...answer,
  headers: { ...answer.headers, ...headers }
})

/** How many requests of a kind have come. */
export const count = ({ requests }: ScriptedTus, method: Request["method"]): number =>
  requests.filter((request) => request === method).length

const extensions = "creation,creation-with-upload,termination,concatenation"

const toRequest = (request: IncomingMessage, body: Buffer): Request => {
  const isFinal = String(request.headers["upload-concat"] ?? "").startsWith("final;")
  return {
    method: isFinal ? "FINAL" : (request.method as Request["method"]),
    path: request.url ?? "",
    headers: request.headers,
    body,
    connection: request.socket.remotePort
  }
}

export const make = Effect.gen(function* () {
  const uploads = new Map<string, Upload>()
  const requests: Array<Request["method"]> = []

  const at = (path: string) => uploads.get(path.split("/").at(-1) ?? "")

  const insert = (upload: Upload): Answer => {
    const id = `u${uploads.size}`
    uploads.set(id, upload)
    const location = `/resumable/files/${id}`
    return { status: 201, headers: { location, "upload-offset": String(upload.bytes.length) } }
  }

  const lengthOf = (value: unknown) => (value === undefined ? undefined : Number(value))

  const go = ({ body, headers, method, path }: Request): Answer => {
    const upload = at(path)
    const metadata = String(headers["upload-metadata"] ?? "")
    switch (method) {
      case "OPTIONS":
        return { status: 204, headers: { "tus-version": "1.0.0", "tus-extension": extensions } }
      case "POST":
        return insert({ metadata, length: lengthOf(headers["upload-length"]), bytes: body })
      case "FINAL": {
        const parts = String(headers["upload-concat"]).slice("final;".length).split(" ")
        const bytes = Buffer.concat(parts.map((part) => at(part)?.bytes ?? Buffer.alloc(0)))
        return insert({ metadata, length: bytes.length, bytes })
      }
      case "GET":
        return {
          status: 200,
          headers: { "content-type": "application/json" },
          body: statusOf(
            [...uploads].map(([id, stored]) =>
              receiptOf(id, metadataOf(stored.metadata), stored.length ?? null, stored.bytes.length)
            )
          )
        }
      default:
    }
    if (upload === undefined) return { status: 404, body: "ERR_UPLOAD_NOT_FOUND: no such upload\n" }
    switch (method) {
      case "PATCH":
        upload.length ??= lengthOf(headers["upload-length"])
        upload.bytes = Buffer.concat([upload.bytes, body])
        return { status: 204, headers: { "upload-offset": String(upload.bytes.length) } }
      case "DELETE":
        uploads.delete(path.split("/").at(-1) ?? "")
        return { status: 204 }
      default:
        return withHeaders(
          { status: 200, headers: { "upload-offset": `${upload.bytes.length}`, "upload-metadata": upload.metadata } },
          upload.length === undefined ? { "upload-defer-length": "1" } : { "upload-length": `${upload.length}` }
        )
    }
  }

  const respond = (response: ServerResponse, answer: Answer | "cut") => {
    if (answer === "cut") return void response.destroy()
    response.writeHead(answer.status, { "tus-resumable": "1.0.0", ...answer.headers }).end(answer.body)
  }

  const origin = yield* Loopback.serve(async (inbound, response) => {
    // A body that breaks off is no request.
    const body = await buffer(inbound).catch(() => undefined)
    if (body === undefined) return
    const request = toRequest(inbound, body)
    requests.push(request.method)
    respond(response, await server.meet(request, (stored = body) => go({ ...request, body: stored })))
  })

  const server: ScriptedTus = {
    origin,
    target: yield* Scene.targetAt(origin),
    uploads,
    requests,
    meet: (_, proceed) => proceed()
  }
  return server
})
