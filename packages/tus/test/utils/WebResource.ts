/**
 * A resource on an HTTP server that supports ranges and ETags, unless a test makes it lie.
 */
import { Effect } from "effect"
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Loopback from "@assembly-effect/testkit/hostile/Loopback"

/** Responds to a request. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void

export interface WebResource {
  readonly url: string
  bytes: Uint8Array
  /** The ETag, or none. */
  etag: string | undefined
  ranges: boolean
  /** The header `accept-ranges` of a resource with ranges. */
  acceptRanges: string
  /** The header `content-length` of responses with the whole resource; chunked without it. */
  hasLength: boolean
  /** `method range`, and the headers of the request. */
  readonly requests: Array<{ readonly line: string; readonly headers: IncomingMessage["headers"] }>
  /** Responses of bodies that were closed before their end. */
  readonly left: () => number
  /** Called for each request. `go` responds as the resource does; `cutAfter` limits the bytes of its body. */
  meet: (request: IncomingMessage, response: ServerResponse, go: (cutAfter?: number) => void, index: number) => void
}

const parse = (range: string | undefined, size: number) => {
  const [, start, end] = /^bytes=(\d+)-(\d*)$/.exec(range ?? "") ?? []
  if (start === undefined) return undefined
  return { start: Number(start), end: end === "" ? size : Math.min(Number(end) + 1, size) }
}

export const make = (bytes: Uint8Array) =>
  Effect.gen(function* () {
    let left = 0
    const resource: Omit<WebResource, "url"> = {
      bytes,
      etag: '"one"',
      ranges: true,
      acceptRanges: "bytes",
      hasLength: true,
      requests: [],
      left: () => left,
      meet: (_, __, go) => go()
    }
    const origin = yield* Loopback.serve(async (request, response) => {
      const { range } = request.headers
      resource.requests.push({ line: `${request.method} ${range ?? "all"}`, headers: request.headers })
      response.on("close", () => {
        if (!response.writableFinished) left++
      })
      const send = (status: number, body: Uint8Array, headers: Record<string, string>, cutAfter?: number) => {
        response.writeHead(status, {
          ...(resource.hasLength ? { "content-length": String(body.length) } : undefined),
          ...(resource.etag === undefined ? undefined : { etag: resource.etag }),
          ...(resource.ranges ? { "accept-ranges": resource.acceptRanges } : undefined),
          ...headers
        })
        if (cutAfter === undefined || cutAfter >= body.length) return void response.end(body)
        response.write(body.subarray(0, cutAfter), () => response.destroy())
      }
      const go = (cutAfter?: number) => {
        const whole = resource.bytes
        const expected = request.headers["if-range"]
        const isSame = expected === undefined || expected === resource.etag
        const part = resource.ranges && isSame ? parse(range, whole.length) : undefined
        if (part === undefined) return send(200, whole, {}, cutAfter)
        if (part.start >= whole.length) {
          return send(416, new Uint8Array(0), { "content-range": `bytes */${whole.length}` })
        }
        const { end, start } = part
        const headers = { "content-range": `bytes ${start}-${end - 1}/${whole.length}` }
        return send(206, whole.subarray(start, end), headers, cutAfter)
      }
      resource.meet(request, response, go, resource.requests.length - 1)
    })
    return Object.assign(resource, { url: `${origin}/path/video.mp4?signature=secret` }) satisfies WebResource
  })
