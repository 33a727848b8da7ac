/** A tus server in memory, behind an HTTP client whose time is that of the test. */
import { Clock, Effect, Stream } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

/**
 * - `arrivals`: when which bytes of an upload arrived. From `hangsAfter` bytes on, the first body is not read.
 * - `requests`: the method and the time of each request, in milliseconds. `refuse` may answer the request with this index.
 */
export const make = ({
  hangsAfter = Infinity,
  refuse = () => undefined
}: { readonly hangsAfter?: number; readonly refuse?: (index: number) => Response | undefined } = {}) => {
  const arrivals: Array<{ readonly upload: string; readonly millis: number; readonly bytes: number }> = []
  const requests: Array<{ readonly method: string; readonly millis: number }> = []
  const offsets = new Map<string, number>()
  const lengths = new Map<string, string>()
  let isHanging = hangsAfter < Infinity
  const receive = (upload: string, bytes: number) =>
    Effect.map(Clock.currentTimeMillis, (millis) => {
      arrivals.push({ upload, millis, bytes })
      offsets.set(upload, (offsets.get(upload) ?? 0) + bytes)
    })
  const http = HttpClient.make(
    Effect.fnUntraced(function* (request) {
      const { body, headers, method } = request
      const refusal = refuse(requests.push({ method, millis: yield* Clock.currentTimeMillis }) - 1)
      if (refusal !== undefined) return HttpClientResponse.fromWeb(request, refusal)
      const upload = method === "POST" ? `/resumable/files/${offsets.size}` : new URL(request.url).pathname
      if (method === "POST") {
        offsets.set(upload, 0)
        lengths.set(upload, headers["upload-length"] ?? "")
      }
      if (body._tag === "Uint8Array") yield* receive(upload, body.body.length)
      if (body._tag === "Stream") {
        yield* body.stream.pipe(
          Stream.runForEach((piece) =>
            Effect.suspend(() => {
              if (!isHanging || (offsets.get(upload) ?? 0) < hangsAfter) return receive(upload, piece.length)
              isHanging = false
              return Effect.never
            })
          ),
          Effect.orDie
        )
      }
      const told = {
        "tus-resumable": "1.0.0",
        "tus-extension": "creation,checksum",
        "tus-checksum-algorithm": "sha256",
        "upload-offset": String(offsets.get(upload) ?? 0),
        "upload-length": lengths.get(upload) ?? "0",
        location: `https://tus.example.com${upload}`
      }
      const status = method === "POST" ? 201 : method === "HEAD" ? 200 : 204
      return HttpClientResponse.fromWeb(request, new Response(null, { status, headers: told }))
    })
  )
  return { arrivals, http, offsets, requests }
}
