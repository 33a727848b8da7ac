/**
 * The service in memory, for tests on the TestClock. Each Assembly runs for 100 seconds after its creation. Files are small:
 * each upload is complete when it is created.
 */
import { AssemblyClient } from "@assembly-effect/api"
import { Authenticator, Credentials } from "@assembly-effect/auth"
import { Clock, Effect, Layer, Redacted } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"

const origin = "https://api.example.com"

/** `refuses`: which request is refused with 429 and an hour: the second one whose path begins with this text. */
export const make = (refuses?: string) => {
  /** Every request with its second. */
  const requests: Array<{ readonly method: string; readonly path: string; readonly second: number }> = []
  const ends = new Map<string, number>()
  let matching = 0
  let mostRunning = 0
  const http = HttpClient.make(
    Effect.fnUntraced(function* (request) {
      const { pathname: path } = new URL(request.url)
      const id = /[0-9a-f]{32}/.exec(path)?.[0] ?? ""
      const second = (yield* Clock.currentTimeMillis) / 1000
      const isPost = request.method === "POST"
      requests.push({ method: request.method, path, second })
      const answer = (status: number, body: object, headers: Record<string, string> = {}) =>
        HttpClientResponse.fromWeb(request, Response.json(body, { status, headers }))
      if (isPost && refuses !== undefined && path.startsWith(refuses) && ++matching === 2) {
        return answer(429, { error: "RATE_LIMIT_REACHED" }, { "retry-after": "3600", "tus-resumable": "1.0.0" })
      }
      if (path.startsWith("/resumable")) {
        const offset = request.body._tag === "Uint8Array" ? request.body.body.length : 0
        const headers = {
          "tus-resumable": "1.0.0",
          "upload-offset": String(offset),
          location: `${origin}/resumable/files/a`
        }
        return HttpClientResponse.fromWeb(request, new Response(null, { status: 201, headers }))
      }
      if (isPost) {
        ends.set(id, second + 100)
        mostRunning = Math.max(mostRunning, Array.from(ends.values()).filter((end) => end > second).length)
      }
      const end = ends.get(id)
      if (end === undefined) return answer(404, { error: "SERVER_404" })
      const ok = isPost ? "ASSEMBLY_UPLOADING" : second < end ? "ASSEMBLY_EXECUTING" : "ASSEMBLY_COMPLETED"
      const urls = { assembly_ssl_url: `${origin}/assemblies/${id}`, tus_url: `${origin}/resumable/files/` }
      return answer(200, { ok, assembly_id: id, ...urls })
    })
  )
  const layer = AssemblyClient.layer({ baseUrl: origin }).pipe(
    Layer.provide(Authenticator.layerSigned()),
    Layer.provide(Credentials.layer({ key: "key", secret: Redacted.make("a secret of the account") })),
    Layer.provideMerge(Layer.succeed(HttpClient.HttpClient, http))
  )
  return {
    requests,
    layer,
    ids: () => [...ends.keys()],
    mostRunning: () => mostRunning,
    creations: () =>
      requests.filter(({ method, path }) => method === "POST" && path.startsWith("/assemblies")).map((at) => at.second)
  }
}
